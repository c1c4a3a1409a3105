// Operations of one group, one after the other: some on the thread that calls, others on one
// worker.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ringlet::torch_api {

/// Jobs run one at a time, in the order in which they came, whichever way they came. PyTorch's
/// callers expect that of a group, and a communicator needs it.
class Turnstile {
 public:
  using Job = std::function<void()>;

  Turnstile() = default;
  /// Runs what was submitted, then ends the worker. Nobody may be inside RunHere.
  ~Turnstile();
  Turnstile(const Turnstile&) = delete;
  Turnstile& operator=(const Turnstile&) = delete;

  /// Runs `job` on this thread, after all that came before. Not from inside a job.
  /// Cost  two locks when nobody else is there: no thread is woken.
  void RunHere(const Job& job);
  /// Runs `job` on the worker; returns at once. The worker starts with the first such job.
  void Submit(Job job);
  /// Whether something runs or waits for its turn.
  bool IsBusy();

 private:
  struct Ticketed {
    std::uint64_t ticket;
    Job job;
  };

  void AwaitTurn(std::unique_lock<std::mutex>& lock, std::uint64_t ticket);
  void Next();
  void Work();

  std::mutex mutex_;
  std::condition_variable turn_;   // the next ticket is served
  std::condition_variable queue_;  // a job has come, or the end
  std::uint64_t next_ticket_ = 0;
  std::uint64_t serving_ = 0;
  std::uint32_t waiting_ = 0;  // in AwaitTurn
  std::deque<Ticketed> jobs_;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace ringlet::torch_api
