// The functions that any thread leaves for the driver's thread, to be run soon or at a time.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/wire/machine.hpp"
#include "os/driver/driver_counters.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

using Work = std::function<void()>;

/// Only Put and Wake may be called by any thread; the rest belongs to the driver's.
class PostedWork {
 public:
  /// \param wake  an eventfd that does not block, which the driver watches
  PostedWork(Fd wake, DriverTally& tally) : wake_(std::move(wake)), tally_(tally) {}

  int descriptor() const { return wake_.get(); }
  void Wake();
  /// Gives whether it had to be announced: the driver wakes, unless an earlier wake-up is still on
  /// its way.
  /// \param is_own  asked when `work` is there: whether the calling thread looks for it by itself
  ///                (TakeOwn) before it sleeps
  bool Put(Work work, const std::function<bool()>& is_own);

  /// Everything, in order, after the wake-up has come.
  std::vector<Work> TakeAnnounced();
  /// Everything, if no wake-up is on its way.
  std::vector<Work> TakeOwn();

  void PutTimed(Instant at, Work work) { timed_.emplace(at, std::move(work)); }
  /// The earliest whose time has come, if there is one.
  std::optional<Work> TakeDue(Instant now);
  std::optional<Instant> NextDue() const;

 private:
  Fd wake_;
  DriverTally& tally_;
  std::mutex mutex_;  // of the next two
  std::vector<Work> posted_;
  bool woken_ = false;                  // a wake-up for what is posted is on its way
  std::multimap<Instant, Work> timed_;  // by its time
};

}  // namespace ringlet::os
