// A graph file (NCCL_GRAPH_FILE) against the topology file that it is used with. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// NCCL takes a graph file as it is. Findings: it does not parse, or names a GPU or NIC that the
/// machine lacks, or none that it has (error `graph`); it claims more than the links carry (error
/// `graph-too-fast`); NCCL's own search finds much more (warning `graph-slow`).
/// \param file  the name of the graph file, for findings
std::vector<topology::Finding> LintGraph(const topology::HostView& view, std::string_view graph,
                                         const std::string& file);

/// Whether an XML text has <system> as its outermost element, or does not parse but mentions it.
bool LooksLikeTopology(std::string_view text);

}  // namespace ringlet::cli
