// The upper bound of any plan of a pattern on a host: minimum cuts between devices and NICs.
#pragma once
#include "plan/channels/pattern_graph.hpp"
#include "plan/routes/limits.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// Returns an upper bound of PatternGraph::total() for any channels of a pattern.
///
/// A ring connects every device to every other, and on several hosts the NICs to each device and
/// back. The bound is therefore at most the minimum cut between these. A chain of a tree connects
/// every two devices in one direction, and n - 1 of n devices send. On several hosts it also
/// connects the NICs to every device, and some device to the NICs. For NVLS, each device exchanges
/// one share per head with its NVSwitch, and one more for its own head. Only links on a route
/// between two ends count: a route does not use NVLink and PCIe in parallel. Limits cover the other
/// costs of a channel, and the facts that channels are equal and at most kSearchChannelsMax. The
/// true optimum can be lower.
///
/// \param limits  limits of the pattern, for the same value of `multi_node`
/// \param found  bandwidth of known channels; the function stops as soon as the bound is this low
/// \return 5,000,000 MB/s (the bandwidth within a device) without a bound; 0 if no channel is
///         possible
/// Cost    O(devices) maximum flows in the graph of the system
topology::Bandwidth BoundOf(RouteTable& table, const Limits& limits, GraphId id, bool multi_node,
                            topology::Bandwidth found = {});

/// The bound of the limits alone. It is never lower than BoundOf() and needs no flows.
topology::Bandwidth BoundOfLimits(const RouteTable& table, const Limits& limits, GraphId id,
                                  bool multi_node);

}  // namespace ringlet::plan
