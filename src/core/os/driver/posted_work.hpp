// Functions that any thread posts for the driver's thread to run, soon or at a given time.
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

/// Any thread may call Put and Wake. Only the driver's thread may call the rest.
class PostedWork {
 public:
  /// \param wake  a non-blocking eventfd that the driver watches
  PostedWork(Fd wake, DriverTally& tally) : wake_(std::move(wake)), tally_(tally) {}

  int descriptor() const { return wake_.get(); }
  void Wake();
  /// Returns true if the work had to be announced: the driver wakes, unless an earlier wake-up is
  /// still pending.
  /// \param is_own  called after `work` is queued: returns true if the calling thread calls TakeOwn
  ///                before it sleeps
  bool Put(Work work, const std::function<bool()>& is_own);

  /// Takes all work, in order, after a wake-up has arrived.
  std::vector<Work> TakeAnnounced();
  /// Takes all work if no wake-up is pending.
  std::vector<Work> TakeOwn();

  void PutTimed(Instant at, Work work) { timed_.emplace(at, std::move(work)); }
  /// Takes the earliest work that is due, if any.
  std::optional<Work> TakeDue(Instant now);
  std::optional<Instant> NextDue() const;

 private:
  Fd wake_;
  DriverTally& tally_;
  std::mutex mutex_;  // guards the next two members
  std::vector<Work> posted_;
  bool woken_ = false;                  // a wake-up for the posted work is pending
  std::multimap<Instant, Work> timed_;  // by time
};

}  // namespace ringlet::os
