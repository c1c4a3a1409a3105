// Runs the operations of one group one after the other, on the calling thread or in the background.
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

/// Runs jobs one at a time in call order, for both kinds of calls. PyTorch's callers expect that of
/// a group, and a communicator requires it.
class SerialExecutor {
 private:
  struct State;

 public:
  /// The turn of a submitted job.
  class Turn {
   public:
    /// Lets the next job begin. This job continues in parallel and may call the serial executor. By
    /// default, a job keeps its turn to its end.
    void End() { end_(); }

   private:
    friend class SerialExecutor;
    explicit Turn(std::function<void()> end) : end_(std::move(end)) {}
    const std::function<void()> end_;
  };
  using Job = std::function<void(Turn&)>;

  /// A submitted job, for a caller that may wait for it. May outlive the executor.
  class Submitted {
   public:
    /// Runs the job on this thread in its turn, unless the job has begun or this thread is inside a
    /// turn. This avoids a sleep and a wakeup of the caller. Returns when the job has run, at once,
    /// or when the caller's comm::LongWait stops waiting.
    void RunHereUnlessBegun() const;

   private:
    friend class SerialExecutor;
    Submitted(std::shared_ptr<State> state, std::uint64_t ticket)
        : state_(std::move(state)), ticket_(ticket) {}
    std::shared_ptr<State> state_;  // shared with the executor
    std::uint64_t ticket_;
  };

  /// \param helpers  run submitted jobs; outlive this object
  explicit SerialExecutor(Helpers& helpers);
  /// Waits until the turns of all submitted jobs have ended. No thread may be inside RunHere.
  ~SerialExecutor();
  SerialExecutor(const SerialExecutor&) = delete;
  SerialExecutor& operator=(const SerialExecutor&) = delete;

  /// Runs `job` on this thread after all earlier jobs. Do not call it inside a turn.
  /// Cost  two locks if no other thread is active: no thread is woken
  void RunHere(const std::function<void()>& job);
  /// Runs `job` on a helper and returns at once. If the system lacks a thread, it runs on this
  /// thread, or on a thread that waits for its turn. Do not call it inside a turn.
  Submitted Submit(Job job);
  /// Number of submitted jobs that no thread has taken.
  std::size_t queued();
  /// True if a job has the turn or waits for it.
  bool IsBusy();
  /// True if jobs wait for their turn. For the job that has the turn.
  bool IsAwaited();
  /// True if this thread is inside a turn and would wait for itself.
  bool IsInside() const;

 private:
  struct Ticketed {
    std::uint64_t ticket;
    Job job;
  };
  using Lock = std::unique_lock<std::mutex>;

  static bool AwaitTurn(State& state, Lock& lock, std::uint64_t ticket);
  static bool NeedsDrainer(State& state);
  static bool Pass(State& state);
  static void FindDrainer(const std::shared_ptr<State>& state);
  static void Drain(const std::shared_ptr<State>& state);
  static bool Serve(const std::shared_ptr<State>& state, Job job);
  static bool IsInside(const State& state);

  const std::shared_ptr<State> state_;  // shared with helpers, which may outlive this object
};

}  // namespace ringlet::torch_api
