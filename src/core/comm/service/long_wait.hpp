// Callers of blocking functions register a function here. Long waits of their thread call it.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

namespace ringlet::comm {

/// While a LongWait lives, each long wait of its thread calls `look` about four times a second. An
/// interpreter needs that, because only the thread that runs its program handles signals. `look`
/// may block, and may call functions of other communicators. Of several LongWaits, only the
/// innermost `look` is called. A LongWait costs a few nanoseconds if no wait is long.
class LongWait {
 public:
  static constexpr std::chrono::milliseconds kPeriod{250};

  /// \param look  returns true if the caller does not want to wait any longer
  explicit LongWait(std::function<bool()> look) : look_(std::move(look)), outer_(t_innermost) {
    t_innermost = this;
  }
  ~LongWait() { t_innermost = outer_; }
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

  /// A waiting thread calls this once per kPeriod, without a lock. It calls the thread's `look`, if
  /// any, and returns true if the caller does not want to wait any longer. A wait may ignore that
  /// if `look` itself ends the wait.
  static bool Look();
  /// Returns true if this thread is inside a `look`, and so inside a wait.
  static bool IsLooking();

  /// Waits as `news.wait` does. Returns false if the caller does not want to wait any longer and
  /// `ready` is not true.
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
  static constinit thread_local LongWait* t_innermost;

  const std::function<bool()> look_;
  LongWait* const outer_;
  bool looking_ = false;
};

}  // namespace ringlet::comm
