// Checks a graph file (NCCL_GRAPH_FILE) against its topology file. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// Returns findings about a graph file, which NCCL uses unchecked. Error `graph`: it does not
/// parse, names a GPU or NIC that the machine lacks, or names none that it has. Warning `graph`: it
/// cannot be checked. Error `graph-too-fast`: it claims more than the links carry. Warning
/// `graph-slow`: NCCL's own search finds much more.
/// \param file  the name of the graph file, for findings
std::vector<topology::Finding> LintGraph(const topology::HostView& view, std::string_view graph,
                                         const std::string& file);

/// Returns true if the first element of an XML text is <system> and the text contains "<cpu".
bool LooksLikeTopology(std::string_view text);

}  // namespace ringlet::cli
