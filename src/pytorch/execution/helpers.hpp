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

/// As many threads as run jobs at once: a job never waits for another one to end. A callback may
/// wait for whatever a later job brings about.
class Helpers {
 public:
  using Job = std::function<void()>;
  /// A thread that has nothing to do stays for the next job, up to so many.
  static constexpr std::size_t kIdleMax = 2;

  Helpers();
  /// Waits for the jobs. From inside one of them: for all but that one, which goes on.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  /// Runs `job` on another thread. False: the system has no thread left, and `job` was not run.
  bool TryRun(Job job);
  /// The same, but runs `job` on this thread where there is no other.
  void Run(const Job& job);

 private:
  struct Owned {
    std::jthread thread;
    std::atomic<bool> ended{false};
  };
  struct Shared {
    std::mutex mutex;
    std::condition_variable news;   // a job, or the end
    std::condition_variable ended;  // a thread has ended
    std::deque<Job> jobs;           // each has a thread that is on its way to it
    std::size_t idle = 0;           // threads that wait, and have no job coming
    std::list<Owned> threads;
    bool stopping = false;
  };
  static void Live(const std::shared_ptr<Shared>& shared, Owned& own);
  static void JoinEnded(std::list<Owned>& threads);
  static void KeepOrphan(std::list<Owned> own);

  const std::shared_ptr<Shared> shared_;  // with the threads, one of which may outlive this
};

}  // namespace ringlet::torch_api
