// Runs operations to their end on the calling thread: works while there is work, sleeps when not.
#pragma once
#include <chrono>
#include <functional>
#include <span>

#include "collective/call/operation.hpp"
#include "ringlet/status.hpp"
#include "transport/link/link.hpp"

namespace ringlet::collective {

struct RunPolicy {
  /// Asked each time before sleeping and at least every some turns in between: has the deadline
  /// passed, was the communicator aborted, has a peer failed? Its error ends the run.
  std::function<Status()> check;
  /// The longest sleep, after which `check` is asked again even without news.
  std::chrono::nanoseconds sleep_max = std::chrono::milliseconds(100);
  /// Before sleeping at links whose news is in memory; null: sleeps at once.
  Spinner* spinner = nullptr;
};

/// Advances `operation` until it is done, `policy.check` objects, or a link fails.
///
/// \param links  of this rank: where it waits, unless the operation has a place of its own.
///               Waiter::Wake, where it sleeps, makes the run look at `check` at once.
Status RunToEnd(Operation& operation, transport::Waiter& links, const RunPolicy& policy);

/// Waits until one of the descriptors is readable, or for `timeout`, or returns without reason.
/// os::PollReadable does it; passed in since this layer stands beside the operating system.
using PollReadable =
    std::function<void(std::span<const int> descriptors, std::chrono::nanoseconds timeout)>;

/// The same for several ranks of one process on one thread: operations[i] belongs to the rank of
/// waiters[i]. Ends with the first error of any of them. An operation with a waiting place of its
/// own has no descriptor: of several operations together, it is polled each millisecond.
Status RunAllToEnd(std::span<Operation* const> operations,
                   std::span<transport::Waiter* const> waiters, const PollReadable& poll,
                   const RunPolicy& policy);

}  // namespace ringlet::collective
