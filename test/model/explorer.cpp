#include "explorer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <csetjmp>

#include <algorithm>
#include <cstdlib>

#include "base/value/prng.hpp"

namespace ringlet::model {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;
constexpr Thread kNobody = kThreadsMax;

bool Writes(Op op) {
  return op != Op::kLoad && op != Op::kResume && op != Op::kUnlock;
}

// The explored alternatives of a state.
struct Explored {
  bool asleep = false;
  std::uint32_t from = 0;  // for a load: stores from this index on have not been explored
};

// A state of the depth-first search and the choice made there.
struct Step {
  Thread thread = kNobody;
  std::uint32_t enabled = 0, backtrack = 0, done = 0;  // one bit per thread
  std::uint32_t option = 0, options = 0;               // index of the reading, of how many
  std::array<Explored, kThreadsMax> sleep = {};
  std::array<std::uint32_t, kThreadsMax> stores = {};  // stores at its next load
  Thread in_turn = kNobody;                            // the next thread without a deviation
  std::uint32_t left = 0;                              // deviations
};

struct Fiber {
  ucontext_t context = {};
  std::jmp_buf place = {};
  void* stack = nullptr;
  bool finished = true, asleep = false, ready = false;
  Event next;
};

struct Trace {
  Event event;
  std::uint32_t index = 0;  // index of the read store
  std::uint64_t read = 0;
  Clock past;  // the operations that it depends on, and itself
};

class Explorer {
 public:
  Report Run(const Scenario& scenario, const Limits& limits, const Plant* plant);

  bool in_thread() const { return current_ != kNobody; }
  Memory& memory() { return memory_; }
  std::uint64_t Do(Event event);
  void Stop(const std::string& bug);
  void Plain(const void* address, std::size_t bytes, bool writes) {
    std::string race = memory_.Plain(current_, address, bytes, writes);
    if (!race.empty()) Stop(race);
  }
  void Fence(Order order) { memory_.Fence(current_, order); }
  void Main();  // entry of a fiber

 private:
  void Execute();
  void Start(Thread thread);
  bool Enabled(Thread thread) const;
  bool Fresh(Thread thread, const Step& step) const;
  Thread Choose();
  Thread ChooseNew();
  Thread Draw(std::uint32_t enabled);
  void Yield();
  void Leave();
  std::uint64_t Perform(Event& event);
  std::uint64_t PerformRead(Event& event);
  void Prepare(Event& event);
  std::uint64_t Wake(Event& event);
  void Sleep(Event& event);
  void Compare(Event& event, std::uint64_t& read);
  std::uint64_t Signal(Event& event);
  void Hold(Event& event);
  std::uint32_t Pick(std::uint32_t options);
  void NoteRaces(const Event& event);
  void Reverse(const Event& event, const Location::Access& first);
  void PutToSleep(const Event& event);
  bool Backtrack();
  bool NextThread(Step& step);
  std::string Told(const std::string& bug) const;
  std::string Told(const Trace& trace) const;

  const Scenario* scenario_ = nullptr;
  const Plant* plant_ = nullptr;
  Limits limits_;
  Report report_;
  Prng prng_{1};
  Memory memory_;
  std::array<Fiber, kThreadsMax> fibers_;
  std::uint32_t threads_ = 0;
  Thread current_ = kNobody, starting_ = kNobody;
  std::jmp_buf main_ = {};
  ucontext_t main_context_ = {};
  std::vector<Step> steps_;
  std::uint32_t at_ = 0;    // index of the next step
  std::uint32_t left_ = 0;  // deviations
  bool reduced_ = true;
  std::array<Explored, kThreadsMax> sleep_ = {};
  std::vector<Trace> trace_;
  std::vector<std::uint32_t> readable_;
  bool cut_ = false;
};

Explorer* TheExplorer() {
  static Explorer explorer;
  return &explorer;
}
Explorer* running = nullptr;  // a caught exception may be requested before one exists

[[gnu::noinline]] void Switch(std::jmp_buf& from, std::jmp_buf& to) {
  if (_setjmp(from) == 0) _longjmp(to, 1);
}

void FiberMain() {
  TheExplorer()->Main();
}

// ---- fibers -------------------------------------------------------------------------------------

void Explorer::Main() {
  scenario_->threads[current_]();
  fibers_[current_].finished = true;
  Yield();
}

// Runs a thread up to its first operation. swapcontext reads the signal mask from the kernel, so it
// is used only here. Later switches use _setjmp and _longjmp.
void Explorer::Start(Thread thread) {
  Fiber& fiber = fibers_[thread];
  if (!fiber.stack) {
    fiber.stack =
        ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fiber.stack == MAP_FAILED) std::abort();
  }
  fiber.finished = fiber.asleep = fiber.ready = false;
  ::getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  ::makecontext(&fiber.context, FiberMain, 0);
  starting_ = current_ = thread;
  if (_setjmp(main_) == 0) ::swapcontext(&main_context_, &fiber.context);
  starting_ = current_ = kNobody;
}

// Passes the turn to the next thread; returns with the turn.
void Explorer::Yield() {
  const Thread me = current_;
  if (starting_ == me) return Switch(fibers_[me].place, main_);
  const Thread next = Choose();
  if (next == me) return;
  if (next == kNobody) Leave();
  current_ = next;
  Switch(fibers_[me].place, fibers_[next].place);
}

// Leaves the execution for good, without destroying the objects on the stacks of the fibers.
void Explorer::Leave() {
  current_ = kNobody;
  _longjmp(main_, 1);
}

void Explorer::Stop(const std::string& bug) {
  if (report_.bug.empty()) report_.bug = Told(bug);
  Leave();
}

// ---- whose turn it is ---------------------------------------------------------------------------

bool Explorer::Enabled(Thread thread) const {
  const Fiber& fiber = fibers_[thread];
  if (fiber.finished || fiber.asleep) return false;
  const Event& next = fiber.next;
  if (next.op == Op::kLock) return !next.location->held && next.location->sharers == 0;
  if (next.op == Op::kLockShared) return !next.location->held;
  if (next.op == Op::kAwait) return next.location->ready || next.value == 0;
  return true;
}

// Returns true if its next operation leads to anything unexplored from here.
bool Explorer::Fresh(Thread thread, const Step& step) const {
  const Explored& sleep = step.sleep[thread];
  if (!sleep.asleep) return true;
  return fibers_[thread].next.op == Op::kLoad && step.stores[thread] > sleep.from;
}

Thread Explorer::Choose() {
  if (at_ >= limits_.steps_max) Stop(fmt::format("no end after {} steps", at_));
  if (at_ < steps_.size()) return steps_[at_].thread;
  return ChooseNew();
}

Thread Explorer::ChooseNew() {
  Step step;
  if (reduced_) step.sleep = sleep_;
  bool finished = true;
  for (Thread thread = 0; thread < threads_; ++thread) {
    finished = finished && fibers_[thread].finished;
    if (!Enabled(thread)) continue;
    step.enabled |= 1u << thread;
    if (fibers_[thread].next.op == Op::kLoad)
      step.stores[thread] =
          static_cast<std::uint32_t>(fibers_[thread].next.location->stores.size());
  }
  if (finished) return kNobody;
  if (step.enabled == 0) Stop("all ranks that are not done sleep, and nobody wakes them");
  if (limits_.drawn > 0) {
    step.thread = Draw(step.enabled);
  } else {
    const auto may = [&](Thread thread) {
      return (step.enabled >> thread & 1u) != 0 && Fresh(thread, step);
    };
    const Thread first = current_ == kNobody ? 0 : current_;
    for (Thread i = 0; i < threads_ && step.thread == kNobody; ++i)
      if (may((first + i) % threads_)) step.thread = (first + i) % threads_;
  }
  cut_ = step.thread == kNobody;
  if (cut_) return kNobody;
  step.in_turn = step.thread;
  step.left = left_;
  step.backtrack = !reduced_ && left_ > 0 ? step.enabled : 1u << step.thread;
  steps_.push_back(step);
  return step.thread;
}

// The same thread mostly continues, because few changes of turn lead to most mistakes.
Thread Explorer::Draw(std::uint32_t enabled) {
  constexpr std::uint64_t kGoesOn = 4;
  if (current_ != kNobody && (enabled >> current_ & 1u) != 0 && prng_.Below(kGoesOn) != 0)
    return current_;
  std::uint64_t skip = prng_.Below(static_cast<std::uint64_t>(__builtin_popcount(enabled)));
  for (Thread thread = 0;; ++thread)
    if ((enabled >> thread & 1u) != 0 && skip-- == 0) return thread;
}

// Selects one of some readings; the last store is the first.
std::uint32_t Explorer::Pick(std::uint32_t options) {
  Step& step = steps_[at_];
  if (step.options == 0) {
    step.options = left_ > 0 ? options : 1;
    if (limits_.drawn > 0 && prng_.Below(2) == 0)
      step.option = static_cast<std::uint32_t>(prng_.Below(options));
  }
  if (step.option > 0) --left_;
  return step.option;
}

// ---- what it does -------------------------------------------------------------------------------

std::uint64_t Explorer::Do(Event event) {
  event.thread = current_;
  fibers_[current_].next = event;
  Yield();
  return Perform(event);
}

std::uint64_t Explorer::Perform(Event& event) {
  Prepare(event);
  const std::size_t mine = at_;
  std::uint64_t read = 0;
  switch (event.op) {
    case Op::kLoad: read = PerformRead(event); break;
    case Op::kStore:
      if (!event.dropped) memory_.Write(event.thread, *event.location, event.value, event.order);
      break;
    case Op::kReadWrite:
      read = event.location->stores.back().value;
      if (event.change) event.value = event.change(read, event.value);
      [[fallthrough]];
    case Op::kCompare: Compare(event, read); break;
    case Op::kFutexWait: read = event.location->stores.back().value; break;
    case Op::kFutexWake: read = Wake(event); break;
    case Op::kLock:
    case Op::kLockShared:
    case Op::kUnlock: Hold(event); break;
    case Op::kSignal:
    case Op::kAwait: read = Signal(event); break;
    case Op::kResume: break;
  }
  if (Writes(event.op)) memory_.KeepWrites(event.thread, *event.location);
  trace_[mine].read = read;
  trace_[mine].past = memory_.past(event.thread);
  ++at_;
  ++report_.steps;
  if (event.op == Op::kFutexWait && (read == event.expected || event.dropped)) Sleep(event);
  return read;
}

void Explorer::Prepare(Event& event) {
  const Step& step = steps_[at_];
  left_ = step.left - (step.in_turn != step.thread ? 1 : 0);
  sleep_ = step.sleep;
  sleep_[event.thread] = {};
  memory_.Tick(event.thread);
  if (plant_ && plant_->before) plant_->before(memory_.NameOf(event.location->address), event);
  NoteRaces(event);
  PutToSleep(event);
  trace_.push_back({.event = event, .index = 0, .read = 0, .past = {}});
  if (Writes(event.op)) memory_.FollowWrites(event.thread, *event.location);
}

std::uint64_t Explorer::PerformRead(Event& event) {
  const Step& step = steps_[at_];
  const Explored& sleep = step.sleep[event.thread];
  memory_.Readable(event.thread, *event.location, event.order, sleep.asleep ? sleep.from : 0,
                   readable_);
  const std::uint32_t index = readable_[Pick(static_cast<std::uint32_t>(readable_.size()))];
  event.value = memory_.Read(event.thread, *event.location, index, event.order);
  trace_.back().index = index;
  if (plant_ && plant_->after) plant_->after(memory_.NameOf(event.location->address), event);
  return event.value;
}

// A failed comparison is a load: of any store with another value. A successful one reads the last
// store, as every read-modify-write does.
void Explorer::Compare(Event& event, std::uint64_t& read) {
  Location& location = *event.location;
  const auto last = static_cast<std::uint32_t>(location.stores.size() - 1);
  std::uint32_t index = last;
  if (event.op == Op::kCompare) {
    memory_.Readable(event.thread, location, event.order, 0, readable_);
    std::erase_if(readable_, [&](std::uint32_t one) {
      return one != last && location.stores[one].value == event.expected;
    });
    index = readable_[Pick(static_cast<std::uint32_t>(readable_.size()))];
    read = location.stores[index].value;
  }
  trace_.back().index = index;
  if (event.op == Op::kCompare && read != event.expected) {
    memory_.Read(event.thread, location, index, event.order);
  } else if (!event.dropped) {
    memory_.ReadAndWrite(event.thread, location, event.value, event.order);
  }
}

// The kernel compares and puts to sleep in one step, and wakes in one.
std::uint64_t Explorer::Wake(Event& event) {
  Location& location = *event.location;
  if (event.dropped) return 0;
  std::uint64_t woken = 0;
  for (Thread thread = 0; thread < threads_; ++thread) {
    if ((location.sleepers >> thread & 1u) == 0) continue;
    fibers_[thread].asleep = false;
    fibers_[thread].next = {.thread = thread, .op = Op::kResume, .location = &location};
    memory_.PassClock(event.thread, thread);
    ++woken;
  }
  location.sleepers = 0;
  return woken;
}

void Explorer::Sleep(Event& event) {
  event.location->sleepers |= 1u << event.thread;
  fibers_[event.thread].asleep = true;
  Yield();
  Event resumed = fibers_[current_].next;
  Perform(resumed);
}

void Explorer::Hold(Event& event) {
  Location& lock = *event.location;
  if (event.dropped) return;
  if (event.op != Op::kUnlock) {
    memory_.Enter(event.thread, lock);
    if (event.op == Op::kLock)
      lock.held = true;
    else
      ++lock.sharers;
    return;
  }
  memory_.Leave(event.thread, lock);
  if (lock.held)
    lock.held = false;
  else if (lock.sharers > 0)
    --lock.sharers;
}

// Edge-triggered: after a wait, only the next signal counts.
std::uint64_t Explorer::Signal(Event& event) {
  Location& place = *event.location;
  const bool ready = place.ready;
  if (event.op == Op::kAwait) {
    place.ready = false;
    if (ready) memory_.Enter(event.thread, place);
  } else if (!event.dropped) {
    place.ready = true;
    memory_.Leave(event.thread, place);
  }
  return ready ? 1 : 0;
}

// ---- what else has to be tried ------------------------------------------------------------------

// If this event does not depend on an earlier operation of another thread at the same place, that
// operation could have happened later. Then that order is tried, beginning with the dependencies of
// this event.
void Explorer::NoteRaces(const Event& event) {
  Location& location = *event.location;
  const Clock past = memory_.past(event.thread);
  const bool orders = reduced_ && Writes(event.op);
  std::uint32_t seen = 1u << event.thread;
  for (auto it = location.accesses.rbegin(); orders && it != location.accesses.rend(); ++it) {
    if ((seen >> it->thread & 1u) != 0) continue;
    seen |= 1u << it->thread;
    if (it->clock > past.at[it->thread]) Reverse(event, *it);
  }
  if (Writes(event.op) || event.op == Op::kLoad)
    location.accesses.push_back({at_, event.thread, past.at[event.thread]});
}

// Runs the threads from before `first`, without it, up to the event. Events between that do not
// depend on `first` may be needed for that. Any of them without a dependency on another one may
// begin (the initials of Abdulla, Aronis, Jonsson and Sagonas, POPL 2014).
void Explorer::Reverse(const Event& event, const Location::Access& first) {
  std::array<const Clock*, kThreadsMax> firsts = {};
  Clock own = memory_.past(event.thread);
  for (std::size_t i = first.step + 1; i < at_; ++i) {
    const Trace& between = trace_[i];
    if (between.past.at[first.thread] >= first.clock) continue;
    if (!firsts[between.event.thread]) firsts[between.event.thread] = &between.past;
    if (between.event.location == event.location && Writes(between.event.op))
      own.Join(between.past);
  }
  if (!firsts[event.thread]) firsts[event.thread] = &own;
  std::uint32_t initials = 0;
  for (Thread thread = 0; thread < threads_; ++thread) {
    bool initial = firsts[thread] != nullptr;
    for (Thread other = 0; other < threads_ && initial; ++other)
      initial =
          other == thread || !firsts[other] || firsts[thread]->at[other] < firsts[other]->at[other];
    if (initial) initials |= 1u << thread;
  }
  Step& step = steps_[first.step];
  if ((initials & step.backtrack) != 0) return;
  const std::uint32_t may = initials & step.enabled, mine = 1u << event.thread;
  step.backtrack |= (may & mine) != 0 ? mine : may != 0 ? may & (~may + 1) : step.enabled;
}

// A sleeping thread wakes up when an event happens that its next operation depends on.
void Explorer::PutToSleep(const Event& event) {
  if (!Writes(event.op)) return;
  for (Thread thread = 0; thread < threads_; ++thread) {
    const Event& next = fibers_[thread].next;
    if (thread != event.thread && Writes(next.op) && next.location == event.location)
      sleep_[thread] = {};
  }
}

bool Explorer::NextThread(Step& step) {
  step.done |= 1u << step.thread;
  if (reduced_) step.sleep[step.thread] = {true, step.stores[step.thread]};
  for (Thread thread = 0; thread < threads_; ++thread) {
    if ((step.backtrack & ~step.done & step.enabled & 1u << thread) == 0) continue;
    const Explored& sleep = step.sleep[thread];
    if (sleep.asleep && step.stores[thread] <= sleep.from) {
      step.done |= 1u << thread;
      continue;
    }
    step.thread = thread;
    step.option = step.options = 0;
    return true;
  }
  return false;
}

// Advances to the next open choice. Returns false if there is none.
bool Explorer::Backtrack() {
  while (!steps_.empty()) {
    Step& step = steps_.back();
    if (step.option + 1 < step.options) {
      ++step.option;
      return true;
    }
    if (NextThread(step)) return true;
    steps_.pop_back();
  }
  return false;
}

// ---- runs ---------------------------------------------------------------------------------------

void Explorer::Execute() {
  at_ = 0;
  left_ = limits_.deviations_max.value_or(UINT32_MAX);
  sleep_ = {};
  cut_ = false;
  trace_.clear();
  scenario_->begin();
  memory_.Begin();
  for (Thread thread = 0; thread < threads_; ++thread) Start(thread);
  if (!report_.bug.empty()) return;
  if (_setjmp(main_) == 0) {
    const Thread first = Choose();
    current_ = first;
    if (first != kNobody) _longjmp(fibers_[first].place, 1);
  }
  current_ = kNobody;
  if (!report_.bug.empty()) return;
  if (cut_) {
    ++report_.cut;
    return;
  }
  ++report_.executions;
  const std::string wrong = scenario_->end ? scenario_->end() : "";
  if (!wrong.empty()) report_.bug = Told(wrong);
}

Report Explorer::Run(const Scenario& scenario, const Limits& limits, const Plant* plant) {
  scenario_ = &scenario;
  plant_ = plant;
  limits_ = limits;
  reduced_ = limits.reduced && !limits.deviations_max;
  report_ = {};
  threads_ = static_cast<std::uint32_t>(scenario.threads.size());
  prng_ = Prng(limits.seed);
  steps_.clear();
  if (threads_ > kThreadsMax) std::abort();
  do {
    Execute();
    if (!report_.bug.empty()) return report_;
    if (limits.drawn > 0) steps_.clear();
    if (limits.drawn > 0 ? report_.executions == limits.drawn
                         : report_.executions + report_.cut >= limits.executions_max)
      return report_;
  } while (limits.drawn > 0 || Backtrack());
  report_.exhausted = true;
  return report_;
}

// ---- what is told -------------------------------------------------------------------------------

constexpr const char* kOpNames[] = {
    "loads", "stores",         "exchanges", "compares", "sleeps at",      "wakes those at",
    "locks", "locks (shared)", "unlocks",   "signals",  "has waited for", "wakes up at"};
constexpr const char* kOrderNames[] = {"relaxed", "consume", "acquire",
                                       "release", "acq_rel", "seq_cst"};

std::string Explorer::Told(const Trace& trace) const {
  const Event& event = trace.event;
  std::string text =
      fmt::format("  rank {} {} {}", event.thread, kOpNames[static_cast<std::size_t>(event.op)],
                  memory_.NameOf(event.location->address));
  if (event.op == Op::kLoad)
    text += fmt::format(": {} (store {} of {}, {})", trace.read, trace.index,
                        event.location->stores.size() - 1,
                        kOrderNames[static_cast<std::size_t>(event.order)]);
  if (event.op == Op::kStore || event.op == Op::kReadWrite)
    text +=
        fmt::format(": {} ({})", event.value, kOrderNames[static_cast<std::size_t>(event.order)]);
  if (event.op == Op::kCompare)
    text += fmt::format(": {} expected, {} found, then {} ({})", event.expected, trace.read,
                        trace.read == event.expected ? event.value : trace.read,
                        kOrderNames[static_cast<std::size_t>(event.order)]);
  if (event.op == Op::kFutexWait)
    text += fmt::format(": {} expected, {} found", event.expected, trace.read);
  return text + (event.dropped ? " [dropped]\n" : "\n");
}

std::string Explorer::Told(const std::string& bug) const {
  std::string text = fmt::format("{}: {}\nafter {} executions, in these steps:\n", scenario_->name,
                                 bug, report_.executions);
  for (const Trace& trace : trace_) text += Told(trace);
  return text;
}

}  // namespace

Report Explore(const Scenario& scenario, const Limits& limits, const Plant* plant) {
  running = TheExplorer();
  return running->Run(scenario, limits, plant);
}

Memory& SharedMemory() {
  return TheExplorer()->memory();
}

void Fail(const std::string& why) {
  TheExplorer()->Stop(why);
  std::abort();
}

bool InThread() {
  return running && running->in_thread();
}

std::uint64_t Do(Event event) {
  return TheExplorer()->Do(event);
}

void FenceNow(Order order) {
  TheExplorer()->Fence(order);
}

void PlainNow(const void* address, std::size_t bytes, bool writes) {
  TheExplorer()->Plain(address, bytes, writes);
}

}  // namespace ringlet::model
