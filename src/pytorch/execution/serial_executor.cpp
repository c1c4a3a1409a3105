#include "pytorch/execution/serial_executor.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "comm/service/long_wait.hpp"

namespace ringlet::torch_api {

struct SerialExecutor::State {
  explicit State(Helpers& given) : helpers(given) {}

  Helpers& helpers;
  std::mutex mutex;
  std::condition_variable turn;  // `serving` has changed
  std::uint64_t next_ticket = 0;
  std::uint64_t serving = 0;
  std::uint32_t waiting = 0;  // for `turn`
  std::deque<Ticketed> jobs;  // submitted but not begun
  bool drained = false;       // a thread takes jobs out in their turns
};

namespace {

/// The nested turns of this thread, innermost first.
struct Inside {
  const void* serial_executor = nullptr;
  const Inside* outer = nullptr;
};
thread_local const Inside* t_inside = nullptr;

/// Marks this thread as inside a turn while this object lives.
class Entered {
 public:
  explicit Entered(const void* serial_executor) : here_{serial_executor, t_inside} {
    t_inside = &here_;
  }
  ~Entered() { t_inside = here_.outer; }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  const Inside here_;
};

}  // namespace

SerialExecutor::SerialExecutor(Helpers& helpers) : state_(std::make_shared<State>(helpers)) {}

SerialExecutor::~SerialExecutor() {
  if (IsInside()) return;
  Lock lock(state_->mutex);
  ++state_->waiting;
  state_->turn.wait(lock, [&] { return state_->serving == state_->next_ticket; });
  --state_->waiting;
}

// \pre  the lock is held. Returns false if the caller's LongWait stops waiting before the turn.
bool SerialExecutor::AwaitTurn(State& state, Lock& lock, std::uint64_t ticket) {
  ++state.waiting;
  const bool came = comm::LongWait::Wait(state.turn, lock, [&] { return state.serving == ticket; });
  --state.waiting;
  return came;
}

// \pre  the lock is held, for both. Returns true if the caller must find a thread that drains.
bool SerialExecutor::NeedsDrainer(State& state) {
  if (state.drained || state.jobs.empty() || state.jobs.front().ticket != state.serving)
    return false;
  state.drained = true;
  return true;
}

bool SerialExecutor::Pass(State& state) {
  ++state.serving;
  if (state.waiting > 0) state.turn.notify_all();
  return NeedsDrainer(state);
}

void SerialExecutor::FindDrainer(const std::shared_ptr<State>& state) {
  if (!state->helpers.TryRun([state] { Drain(state); })) Drain(state);
}

void SerialExecutor::Drain(const std::shared_ptr<State>& state) {
  while (true) {
    Job job;
    {
      const Lock lock(state->mutex);
      state->drained = false;
      if (!NeedsDrainer(*state)) return;
      job = std::move(state->jobs.front().job);
      state->jobs.pop_front();
    }
    if (Serve(state, std::move(job))) continue;
    // Its turn ended before the job; another thread may drain meanwhile.
    const Lock lock(state->mutex);
    if (state->drained || !NeedsDrainer(*state)) return;
  }
}

// Returns false if the turn ended before the job did, and this thread no longer drains.
bool SerialExecutor::Serve(const std::shared_ptr<State>& state, Job job) {
  std::optional<Entered> inside(std::in_place, state.get());
  const auto end = [&] {
    if (!inside) return;
    inside.reset();
    bool wanted = false;
    {
      const Lock lock(state->mutex);
      state->drained = false;
      wanted = Pass(*state);
    }
    if (wanted) FindDrainer(state);
  };
  Turn turn(end);
  job(turn);
  job = nullptr;  // destroys the job's captures before the next one begins
  if (!inside) return false;
  inside.reset();
  const Lock lock(state->mutex);
  ++state->serving;
  if (state->waiting > 0) state->turn.notify_all();
  return true;
}

void SerialExecutor::RunHere(const std::function<void()>& job) {
  const auto state = state_;
  {
    Lock lock(state->mutex);
    const std::uint64_t ticket = state->next_ticket++;
    // Every ticket must be served, so a caller that stops waiting still waits for the earlier jobs.
    while (!AwaitTurn(*state, lock, ticket)) {
    }
  }
  {
    const Entered inside(state.get());
    job();
  }
  bool wanted = false;
  {
    const Lock lock(state->mutex);
    wanted = Pass(*state);
  }
  if (wanted) FindDrainer(state);
}

SerialExecutor::Submitted SerialExecutor::Submit(Job job) {
  const auto state = state_;
  std::uint64_t ticket = 0;
  bool wanted = false;
  {
    const Lock lock(state->mutex);
    ticket = state->next_ticket++;
    state->jobs.push_back({ticket, std::move(job)});
    wanted = NeedsDrainer(*state);
  }
  if (wanted) FindDrainer(state);
  return {state, ticket};
}

void SerialExecutor::Submitted::RunHereUnlessBegun() const {
  if (SerialExecutor::IsInside(*state_)) return;
  Job job;
  {
    Lock lock(state_->mutex);
    const auto found = std::ranges::find(state_->jobs, ticket_, &Ticketed::ticket);
    if (found == state_->jobs.end()) return;
    job = std::move(found->job);
    state_->jobs.erase(found);
    if (!AwaitTurn(*state_, lock, ticket_)) {
      // The caller stops waiting: the job returns to its position in the queue.
      const auto place = std::ranges::upper_bound(state_->jobs, ticket_, {}, &Ticketed::ticket);
      state_->jobs.insert(place, {ticket_, std::move(job)});
      return;
    }
  }
  // A helper that was started for this job finds other jobs or none.
  if (!Serve(state_, std::move(job))) return;
  bool wanted = false;
  {
    const Lock lock(state_->mutex);
    wanted = NeedsDrainer(*state_);
  }
  if (wanted) FindDrainer(state_);
}

std::size_t SerialExecutor::queued() {
  const Lock lock(state_->mutex);
  return state_->jobs.size();
}

bool SerialExecutor::IsBusy() {
  const Lock lock(state_->mutex);
  return state_->serving != state_->next_ticket;
}

bool SerialExecutor::IsAwaited() {
  const Lock lock(state_->mutex);
  return state_->next_ticket > state_->serving + 1;
}

bool SerialExecutor::IsInside() const {
  return IsInside(*state_);
}

bool SerialExecutor::IsInside(const State& state) {
  for (const Inside* inside = t_inside; inside != nullptr; inside = inside->outer)
    if (inside->serial_executor == &state) return true;
  return false;
}

}  // namespace ringlet::torch_api
