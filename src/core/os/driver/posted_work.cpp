#include "os/driver/posted_work.hpp"

#include <unistd.h>

#include <utility>

namespace ringlet::os {

void PostedWork::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

bool PostedWork::Put(Work work, const std::function<bool()>& is_own) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    // Queried after the work is queued, so that a thread that starts now finds it.
    if (is_own()) return false;
    wakes = !std::exchange(woken_, true);
  }
  if (wakes) Wake();
  return true;
}

std::vector<Work> PostedWork::TakeAnnounced() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
  ++tally_.counters.system_calls;
  const std::lock_guard lock(mutex_);
  woken_ = false;
  return std::exchange(posted_, {});
}

std::vector<Work> PostedWork::TakeOwn() {
  const std::lock_guard lock(mutex_);
  if (woken_) return {};
  return std::exchange(posted_, {});
}

std::optional<Work> PostedWork::TakeDue(Instant now) {
  if (timed_.empty() || timed_.begin()->first > now) return std::nullopt;
  return std::move(timed_.extract(timed_.begin()).mapped());
}

std::optional<Instant> PostedWork::NextDue() const {
  if (timed_.empty()) return std::nullopt;
  return timed_.begin()->first;
}

}  // namespace ringlet::os
