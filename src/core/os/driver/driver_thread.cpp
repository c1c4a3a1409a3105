#include "os/driver/driver_thread.hpp"

#include <algorithm>

#include "os/clock.hpp"

namespace ringlet::os {

void DriverThread::Run(const Step& step) {
  const std::lock_guard running(running_);
  while (!stopped_) step(std::chrono::seconds(60));
}

Status DriverThread::Start() {
  const std::lock_guard lock(start_mutex_);
  if (started_) return Ok();
  started_ = true;  // set first, because the new thread may post before start_ returns
  if (lent_to_ != std::thread::id()) wake_();
  Status status = start_();
  if (!status.ok()) started_ = false;
  return status;
}

void DriverThread::StartIfNeeded() {
  if (start_ && !started_) (void)Start();
}

bool DriverThread::Borrow(Instant spin) {
  if (!start_ || started_) return false;
  std::thread::id nobody;
  if (!lent_to_.compare_exchange_strong(nobody, std::this_thread::get_id())) return false;
  spin_ = spin;
  return true;
}

Status DriverThread::Return() {
  lent_to_ = std::thread::id();
  return Start();
}

// Work that another thread posts starts the driver's own thread and wakes this one, which returns.
// So no work is left undone while the borrower waits for another event.
void DriverThread::RunUntil(const Step& step, const std::function<bool()>& done, Instant until) {
  if (!IsLeasedHere()) return;
  const std::lock_guard running(running_);
  while (!started_ && !done()) {
    const Instant left = until - Now();
    step(std::max(left, Instant(0)));
    if (left <= Instant(0)) return;
  }
}

}  // namespace ringlet::os
