// How wide the way between two nodes of a host is.
#pragma once
#include <vector>

#include "topology/graph.hpp"

namespace ringlet::topology {

/// The bandwidth of the widest path from `from` to each node of its host, in the host's order of
/// nodes; a path passes through NUMA nodes only. To `from` itself: its widest link, or 0 without
/// links; 0 also where no path leads.
/// Cost  O(links of the host * log nodes of the host)
std::vector<Bandwidth> WidestFrom(const Graph& graph, NodeIndex from);

}  // namespace ringlet::topology
