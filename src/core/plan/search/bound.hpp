// The upper bound on any plan of a pattern on a host: minimum cuts between its devices and NICs.
#pragma once
#include "plan/channels/pattern_graph.hpp"
#include "plan/routes/limits.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// An upper bound on the bandwidth of all channels of a pattern together, as PatternGraph::total
/// counts it.
///
/// Rings pass from every device to every other, and beyond the host from the NICs to each device
/// and on to the NICs, so no cut between these may be narrower. Chains of trees pass between every
/// two devices one way or the other, and of n devices n - 1 send; beyond the host they come from
/// the NICs to every device, and leave for the NICs from some. Each device and its NVSwitch
/// exchange a share for every head of NVLS, and one more for its own. Only links count that are on
/// the way between two ends: NVLink and PCIe are not used side by side. The other costs of every
/// channel are in Limits, which also know that channels are equal and at most kSearchChannelsMax.
/// The true optimum may be lower.
///
/// \param limits  of the pattern, beyond the host or not
/// \param found the flow moved already: nothing more is looked for once the bound is as low
/// \return 5,000,000 MB/s (a device's own) where nothing bounds it; 0 where it is not possible
/// Cost    O(devices) maximum flows in the graph of the system
topology::Bandwidth BoundOf(RouteTable& table, const Limits& limits, GraphId id, bool multi_node,
                            topology::Bandwidth found = {});

/// The bound of the limits alone: never lower than BoundOf, and found without flows.
topology::Bandwidth BoundOfLimits(const RouteTable& table, const Limits& limits, GraphId id,
                                  bool multi_node);

}  // namespace ringlet::plan
