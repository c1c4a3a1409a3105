// Short names of the parts of a graph, for users.
#pragma once
#include <string>
#include <string_view>

#include "ringlet/status.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::topology {

/// Returns "GPU0" by rank, "NUMA0", a port's name, or "NVS0"; with several hosts "node1/GPU0".
std::string LabelOf(const Graph& graph, NodeIndex node);

/// Returns the node for a name: its label, NCCL's name ("GPU/0-11000"), or a bus address.
/// Errors  kInvalidArgument  no node or several nodes have the name; lists the candidates
Result<NodeIndex> NodeCalled(const Graph& graph, std::string_view name);

}  // namespace ringlet::topology
