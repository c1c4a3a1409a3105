// A function that the caller of a blocking function has called during long waits.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

namespace ringlet::comm {

/// As long as it lives, waits of its thread that have become long call `look` about four times a
/// second: a language's signals, for example, are served by the thread that runs its program alone.
/// `look` may block and may call other communicators. The innermost one of a thread counts. Cost a
/// few nanoseconds where no wait is long.
class LongWait {
 public:
  static constexpr std::chrono::milliseconds kPeriod{250};

  /// \param look  returns whether the caller does not want to wait any longer
  explicit LongWait(std::function<bool()> look) : look_(std::move(look)), outer_(t_innermost) {
    t_innermost = this;
  }
  ~LongWait() { t_innermost = outer_; }
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

  /// For those who wait, once in kPeriod, without locks: calls `look`, if there is one. True: the
  /// caller does not want to wait any longer; where a wait cannot end, `look` sees to its end.
  static bool Look();
  /// Whether this thread is inside a `look`, and so inside a wait.
  static bool IsLooking();

  /// As `news.wait`, but false if the caller does not want to wait any longer and it is not ready.
  template <typename Ready>
  static bool Wait(std::condition_variable& news, std::unique_lock<std::mutex>& lock,
                   const Ready& ready) {
    while (t_innermost != nullptr && !news.wait_for(lock, kPeriod, ready)) {
      lock.unlock();
      const bool enough = Look();
      lock.lock();
      if (enough) return ready();
    }
    news.wait(lock, ready);
    return true;
  }

 private:
  static thread_local LongWait* t_innermost;

  const std::function<bool()> look_;
  LongWait* const outer_;
  bool looking_ = false;
};

}  // namespace ringlet::comm
