// Operations of one group, one after the other: some on the thread that calls, others in the
// background.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "pytorch/execution/helpers.hpp"

namespace ringlet::torch_api {

/// Jobs run one at a time, in the order in which they came, whichever way they came. PyTorch's
/// callers expect that of a group, and a communicator needs it.
class SerialExecutor {
 private:
  struct State;

 public:
  /// The turn of a job that was submitted.
  class Turn {
   public:
    /// The next job may begin; this one goes on beside it, and may call the serial executor. A job
    /// that does not call it has its turn to its end.
    void End() { end_(); }

   private:
    friend class SerialExecutor;
    explicit Turn(std::function<void()> end) : end_(std::move(end)) {}
    const std::function<void()> end_;
  };
  using Job = std::function<void(Turn&)>;

  /// A job that was submitted, for a caller that may come to wait for it. May outlive the executor.
  class Submitted {
   public:
    /// Runs the job on this thread in its turn, unless it has begun or this thread is inside a
    /// turn: the caller would sleep meanwhile, and be woken. Returns when it has run, at once, or
    /// when the caller's comm::LongWait has enough.
    void RunHereUnlessBegun() const;

   private:
    friend class SerialExecutor;
    Submitted(std::shared_ptr<State> state, std::uint64_t ticket)
        : state_(std::move(state)), ticket_(ticket) {}
    std::shared_ptr<State> state_;  // with the executor
    std::uint64_t ticket_;
  };

  /// \param helpers  run what is submitted, and outlive this
  explicit SerialExecutor(Helpers& helpers);
  /// Waits until the turns of all that was submitted have ended. No thread may be inside RunHere.
  ~SerialExecutor();
  SerialExecutor(const SerialExecutor&) = delete;
  SerialExecutor& operator=(const SerialExecutor&) = delete;

  /// Runs `job` on this thread, after all that came before. Not from inside a turn.
  /// Cost two locks when no other thread is there: no thread is woken.
  void RunHere(const std::function<void()>& job);
  /// Runs `job` on a helper; returns at once. If the system has no thread for it, it runs here, or
  /// on a thread that waits for its turn. Not from inside a turn.
  Submitted Submit(Job job);
  /// How many jobs were submitted and no thread has taken.
  std::size_t queued();
  /// Whether something has a turn or waits for it.
  bool IsBusy();
  /// For the one who has the turn: whether others wait for theirs.
  bool IsAwaited();
  /// Whether this thread is inside a turn, and would wait for itself.
  bool IsInside() const;

 private:
  struct Ticketed {
    std::uint64_t ticket;
    Job job;
  };
  using Lock = std::unique_lock<std::mutex>;

  static bool AwaitTurn(State& state, Lock& lock, std::uint64_t ticket);
  static bool WantsDrainer(State& state);
  static bool Pass(State& state);
  static void FindDrainer(const std::shared_ptr<State>& state);
  static void Drain(const std::shared_ptr<State>& state);
  static bool Serve(const std::shared_ptr<State>& state, Job job);
  static bool IsInside(const State& state);

  const std::shared_ptr<State> state_;  // with the helpers that serve it, which may outlive this
};

}  // namespace ringlet::torch_api
