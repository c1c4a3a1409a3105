// Threads for work that may block for any time: the callbacks of futures.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace ringlet::torch_api {

/// Runs each job on its own thread, so that a job never waits for another one to end. A callback
/// may wait for the effects of a later job.
class Helpers {
 public:
  using Job = std::function<void()>;
  /// Maximum number of idle threads that stay for further jobs.
  static constexpr std::size_t kIdleMax = 2;

  Helpers();
  /// Waits for the jobs. If called inside a job, it waits for all others; that job continues.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  /// Runs `job` on another thread. Returns false without running it if the system lacks a thread.
  bool TryRun(Job job);
  /// As TryRun, but runs `job` on this thread if no other is available.
  void Run(const Job& job);

 private:
  struct Owned {
    std::jthread thread;
    std::atomic<bool> ended{false};
  };
  struct HelperState {
    std::mutex mutex;
    std::condition_variable news;   // a job, or the end
    std::condition_variable ended;  // a thread has ended
    std::deque<Job> jobs;           // each has a thread assigned
    std::size_t idle = 0;           // waiting threads without an assigned job
    std::list<Owned> threads;
    bool stopping = false;
  };
  static void RunThread(const std::shared_ptr<HelperState>& shared, Owned& own);
  static void JoinEnded(std::list<Owned>& threads);
  static void JoinLater(std::list<Owned> own);

  const std::shared_ptr<HelperState>
      shared_;  // shared with the threads; one may outlive this object
};

}  // namespace ringlet::torch_api
