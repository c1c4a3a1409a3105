// The exclusive use of an object by one thread.
#pragma once
#include <atomic>

#include "comm/service/fork_guard.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// A member of an object that one thread at a time may use, and that no forked child may use.
class SingleUse {
 private:
  friend class Occupancy;
  const ForkGuard fork_guard_ = {};
  std::atomic<bool> taken_{false};
};

/// Holds a communicator for one operation. Another thread or a forked child is refused, because it
/// would share buffers and sequence numbers with the operation. Cost  one locked instruction
class Occupancy {
 public:
  /// \param use  outlives this
  explicit Occupancy(SingleUse& use) : use_(use) {
    granted_ = use.fork_guard_.IsHere() && !use.taken_.exchange(true, std::memory_order_acquire);
  }
  ~Occupancy() {
    if (granted_) use_.taken_.store(false, std::memory_order_release);
  }
  Occupancy(const Occupancy&) = delete;
  Occupancy& operator=(const Occupancy&) = delete;

  bool granted() const { return granted_; }
  /// Errors  kUnsupported      another thread runs an operation on it
  ///         kInvalidArgument  this is a child of the process that made it
  Status Check() const {
    if (granted_) [[likely]]
      return Ok();
    RINGLET_TRY(use_.fork_guard_.Check());
    return Error{
        Code::kUnsupported,
        "another thread is in a call on this communicator: one thread at a time may use it, "
        "so let the threads take turns, or give each a communicator of its own"};
  }

 private:
  SingleUse& use_;
  bool granted_ = false;
};

}  // namespace ringlet::comm
