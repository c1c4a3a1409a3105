// Several calls, of one or several ranks of this process, on one thread.
#pragma once
#include <memory>
#include <vector>

#include "comm/run/communicator.hpp"

namespace ringlet::comm {

struct GroupedCall {
  std::shared_ptr<Communicator> communicator;
  Work work;
};

/// Runs all calls to their end, as NCCL does between ncclGroupStart and ncclGroupEnd. Communicators
/// proceed concurrently. Each runs its collectives in their order, then its puts, then all its
/// messages at once, so that their order does not matter, and last its waits for signals. Blocks.
///
/// Returns at once without calls. An invalid call is refused before any call runs. A failure fails
/// the unfinished communicators on all their ranks. Errors  the first that occurred; as
/// Communicator's
Status RunGroup(const std::vector<GroupedCall>& calls);

}  // namespace ringlet::comm
