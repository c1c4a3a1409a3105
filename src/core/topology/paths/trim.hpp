// Computes the parts of a system that a rank reaches without the network.
#pragma once
#include <cstdint>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// By GPU of the system, in order: the number of the first GPU of its domain. That is the lowest
/// domain of the earlier GPUs with a path to it, or itself. This is NCCL's rule, in one pass: two
/// domains stay separate even if a later GPU joins them.
std::vector<std::uint32_t> DomainsOf(const Paths& paths);

/// The graph without GPUs of the system outside `rank`'s domain. Their devices and NICs stay.
/// Errors  kInvalidArgument  no GPU of the system has that rank
Result<Graph> TrimToDomain(const Paths& paths, Rank rank);

/// Upper limits for any search.
struct SystemLimits {
  Bandwidth widest;  ///< path from a device to another device, or to a NIC
  Bandwidth total;   ///< all links of a device together
};

/// \param beyond  true if the communicator has ranks outside this system
SystemLimits LimitsOf(const Paths& paths, bool beyond);

}  // namespace ringlet::topology
