// The thread that runs a driver: its own, or, before that has started, one to which the driver is
// lent.
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

  /// \param start  starts the thread that calls Run; empty: the driver's owner starts it, and the
  ///               driver is never lent
  /// \param wake   ends the wait of the turn under way
  DriverThread(std::function<Status()> start, std::function<void()> wake)
      : start_(std::move(start)), wake_(std::move(wake)) {}

  /// True while the calling thread runs the driver and no other thread does.
  bool IsLentHere() const { return IsBorrower() && !started_; }
  /// How long the calling thread spins before it sleeps.
  Instant SpinHere() const { return IsBorrower() ? spin_ : Instant(0); }

  /// Lends the driver to the calling thread. False: it is lent already, was started, or has no
  /// `start`.
  bool Borrow(Instant spin);
  /// Ends the loan, and starts the driver's own thread. Errors  those of `start`
  Status Return();
  /// If the thread does not start, the next call tries again.
  void StartIfNeeded();

  /// Calls `step` until Stop.
  void Run(const Step& step);
  void Stop() { stopped_ = true; }
  /// Calls `step` on the thread to which the driver is lent: SocketDriver::RunUntil.
  void RunUntil(const Step& step, const std::function<bool()>& done, Instant until);

 private:
  bool IsBorrower() const { return lent_to_ == std::this_thread::get_id(); }
  Status Start();

  const std::function<Status()> start_;
  const std::function<void()> wake_;
  std::mutex start_mutex_;  // held while `start_` is called
  std::atomic<bool> started_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<std::thread::id> lent_to_{};
  Instant spin_{0};     // the borrower's
  std::mutex running_;  // held by the thread that runs the driver
};

}  // namespace ringlet::os
