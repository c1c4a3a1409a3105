// The parts of a system that a rank can reach without the network.
#pragma once
#include <cstdint>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// For each GPU of the system, in order, the number of the first GPU of its domain: the lowest that
/// an earlier GPU with a path to it belongs to, or itself. NCCL's rule: one pass, so that two
/// domains which a later GPU joins stay two.
std::vector<std::uint32_t> DomainsOf(const Paths& paths);

/// The graph without the GPUs of the system that are not of `rank`'s domain. Their devices stay,
/// and their NICs.
/// Errors  kInvalidArgument  no GPU of the system has that rank
Result<Graph> TrimToDomain(const Paths& paths, Rank rank);

/// The most that a search can find.
struct SystemLimits {
  Bandwidth widest;  ///< path from a device to another, or to a NIC
  Bandwidth total;   ///< that a device can move at all
};

/// \param beyond  the communicator goes on outside this system
SystemLimits LimitsOf(const Paths& paths, bool beyond);

}  // namespace ringlet::topology
