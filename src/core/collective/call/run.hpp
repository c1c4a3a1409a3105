// Runs operations to their end on the calling thread, which sleeps when it runs out of work.
#pragma once
#include <chrono>
#include <functional>
#include <span>

#include "collective/call/operation.hpp"
#include "ringlet/status.hpp"
#include "transport/link/link.hpp"

namespace ringlet::collective {

struct RunPolicy {
  /// Called before each sleep, and at least once per fixed number of turns. Checks for a passed
  /// deadline, an aborted communicator and a failed peer. An error ends the run.
  std::function<Status()> check;
  /// Maximum time to sleep before the next call of `check`, even without news.
  std::chrono::nanoseconds sleep_max = std::chrono::milliseconds(100);
  /// Spins before a sleep at links with news in memory. Null to sleep at once.
  Spinner* spinner = nullptr;
};

/// Advances `operation` until it is done, `policy.check` fails, or a link fails.
///
/// \param links  of this rank: where it waits, unless the operation has a separate place.
///               Waiter::Wake there makes the run call `check` at once.
Status RunToEnd(Operation& operation, transport::Waiter& links, const RunPolicy& policy);

/// Waits until a descriptor is readable or `timeout` passes, or returns spuriously. Implemented by
/// os::PollReadable and passed in, because this layer does not use the operating system.
using PollReadable =
    std::function<void(std::span<const int> descriptors, std::chrono::nanoseconds timeout)>;

/// Does the same for several ranks of one process on one thread: operations[i] belongs to the rank
/// of waiters[i]. Ends with the first error of any operation. If an operation has a separate
/// waiting place, it lacks a descriptor. Among several operations, it is polled each millisecond.
Status RunAllToEnd(std::span<Operation* const> operations,
                   std::span<transport::Waiter* const> waiters, const PollReadable& poll,
                   const RunPolicy& policy);

}  // namespace ringlet::collective
