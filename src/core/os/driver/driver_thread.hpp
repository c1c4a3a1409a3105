// The thread that runs a driver: its own thread, or a borrower until that thread has started.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

class DriverThread {
 public:
  using Step = std::function<void(Instant wait)>;  ///< one turn of the driver

  /// \param start  starts the thread that calls Run. Empty: the driver's owner starts it, and the
  ///               driver is never lent.
  /// \param wake   ends the wait of the current turn
  DriverThread(std::function<Status()> start, std::function<void()> wake)
      : start_(std::move(start)), wake_(std::move(wake)) {}

  /// True if the calling thread runs the driver and no other thread does.
  bool IsLeasedHere() const { return IsRunByCaller() && !started_; }
  /// The time that the calling thread spins before it sleeps.
  Instant SpinHere() const { return IsRunByCaller() ? spin_ : Instant(0); }

  /// Lends the driver to the calling thread. Returns false if it is lent, started, or without
  /// `start`.
  bool Borrow(Instant spin);
  /// Ends the lease, and starts the driver's own thread. Errors  those of `start`
  Status Return();
  /// Starts the thread if necessary. After a failure the next call tries again.
  void StartIfNeeded();

  /// Calls `step` until Stop.
  void Run(const Step& step);
  void Stop() { stopped_ = true; }
  /// Calls `step` on the borrowing thread: see SocketDriver::RunUntil.
  void RunUntil(const Step& step, const std::function<bool()>& done, Instant until);

 private:
  bool IsRunByCaller() const { return lent_to_ == std::this_thread::get_id(); }
  Status Start();

  const std::function<Status()> start_;
  const std::function<void()> wake_;
  std::mutex start_mutex_;  // held while `start_` is called
  std::atomic<bool> started_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<std::thread::id> lent_to_{};
  Instant spin_{0};     // of the borrower
  std::mutex running_;  // held by the thread that runs the driver
};

}  // namespace ringlet::os
