// Where things lie in the picture of a machine: hosts hold NUMA nodes, these hold switches, these
// devices; GPUs and NICs stand in one row, and what NVLink joins is below. Pure.
#pragma once
#include <string>

#include "frontends/cli/drawing.hpp"
#include "topology/graph.hpp"

namespace ringlet::cli {

/// \param title  stands above all
Drawing LayOut(const topology::Graph& graph, const std::string& title);

/// The width of a line that stands for a bandwidth: as its square root, 1 to 14 pixels.
double LineWidth(topology::Bandwidth bandwidth);

}  // namespace ringlet::cli
