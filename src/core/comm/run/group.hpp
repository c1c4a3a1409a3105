// Several calls, of one or several ranks of this process, driven by one thread.
#pragma once
#include <memory>
#include <vector>

#include "comm/run/communicator.hpp"

namespace ringlet::comm {

struct GroupedCall {
  std::shared_ptr<Communicator> communicator;
  Work work;
};

/// Runs all calls to their end, as NCCL does between ncclGroupStart and ncclGroupEnd: those of
/// different communicators at the same time; of each communicator first its collectives in their
/// order, then its puts, then all its messages at once, so that their order does not matter, and at
/// last its waits for signals. Blocks.
///
/// Of no calls it is over at once. A call that makes no sense is refused before anything runs. A
/// failure fails the communicators that had not finished, on all their ranks. Errors  the first
/// that occurred; as Communicator's
Status RunGroup(const std::vector<GroupedCall>& calls);

}  // namespace ringlet::comm
