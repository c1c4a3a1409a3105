// The positions of things in the picture of a machine: hosts hold NUMA nodes, these hold switches,
// these devices; GPUs and NICs stand in one row, and what NVLink joins is below. Pure.
#pragma once
#include <string>

#include "frontends/cli/draw/drawing.hpp"
#include "ringlet/status.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::cli {

/// More than is legible, or worth the time.
inline constexpr std::size_t kDrawnNodesMax = 20'000;
inline constexpr std::size_t kDrawnWiresMax = 4'000;  ///< NVLinks from GPU to GPU

/// Errors  kUnsupported  there are more nodes or wires
Status CheckDrawable(const topology::Graph& graph);

/// \param title  stands above all
/// \pre CheckDrawable has passed, or time is no matter
Drawing LayOut(const topology::Graph& graph, const std::string& title);

/// The width of a line that stands for a bandwidth: as its square root, 1 to 14 pixels.
double LineWidth(topology::Bandwidth bandwidth);

}  // namespace ringlet::cli
