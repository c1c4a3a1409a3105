// Several ranks of one process, driven by one thread.
#pragma once
#include <memory>
#include <vector>

#include "comm/communicator.hpp"

namespace ringlet::comm {

struct GroupedCall {
  std::shared_ptr<Communicator> communicator;
  Call call;
};

/// Runs all calls to their end; those of one communicator in their order, those of different ones
/// at the same time. A failure fails the communicators that had not finished, on all their ranks.
/// Errors  the first that occurred; calls of communicators that are not concerned are completed.
Status RunGroup(const std::vector<GroupedCall>& calls);

}  // namespace ringlet::comm
