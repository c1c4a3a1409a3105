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
  std::condition_variable turn;  // another ticket is served
  std::uint64_t next_ticket = 0;
  std::uint64_t serving = 0;
  std::uint32_t waiting = 0;  // for `turn`
  std::deque<Ticketed> jobs;  // submitted, and not begun
  bool drained = false;       // a thread takes jobs out as their turns come
};

namespace {

/// The turns that this thread is inside of, the innermost first.
struct Inside {
  const void* serial_executor = nullptr;
  const Inside* outer = nullptr;
};
thread_local const Inside* t_inside = nullptr;

/// As long as it lives, this thread is inside a turn.
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

// With the lock held. False: the caller's LongWait has enough, and the turn has not come.
bool SerialExecutor::AwaitTurn(State& state, Lock& lock, std::uint64_t ticket) {
  ++state.waiting;
  const bool came = comm::LongWait::Wait(state.turn, lock, [&] { return state.serving == ticket; });
  --state.waiting;
  return came;
}

// Both with the lock held. True: it has become the caller's task to find a thread that drains.
bool SerialExecutor::WantsDrainer(State& state) {
  if (state.drained || state.jobs.empty() || state.jobs.front().ticket != state.serving)
    return false;
  state.drained = true;
  return true;
}

bool SerialExecutor::Pass(State& state) {
  ++state.serving;
  if (state.waiting > 0) state.turn.notify_all();
  return WantsDrainer(state);
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
      if (!WantsDrainer(*state)) return;
      job = std::move(state->jobs.front().job);
      state->jobs.pop_front();
    }
    if (Serve(state, std::move(job))) continue;
    // Its turn ended before it did; another thread may drain since then.
    const Lock lock(state->mutex);
    if (state->drained || !WantsDrainer(*state)) return;
  }
}

// False: the turn ended before the job did, and this thread no longer drains.
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
  job = nullptr;  // the job's captures may end here, before the next one begins
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
    // The ticket must be served: a caller that has enough sees to the end of the jobs before.
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
    wanted = WantsDrainer(*state);
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
      // The caller does not wait any longer: the job goes back to its place.
      const auto place = std::ranges::upper_bound(state_->jobs, ticket_, {}, &Ticketed::ticket);
      state_->jobs.insert(place, {ticket_, std::move(job)});
      return;
    }
  }
  // A helper that was called for this job finds others or none.
  if (!Serve(state_, std::move(job))) return;
  bool wanted = false;
  {
    const Lock lock(state_->mutex);
    wanted = WantsDrainer(*state_);
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
