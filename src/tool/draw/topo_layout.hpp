// The positions of things in the picture of a machine: hosts hold NUMA nodes, these hold switches,
// these devices; GPUs and NICs stand in one row, and what NVLink joins is below. Pure.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ringlet/status.hpp"
#include "tool/draw/drawing.hpp"
#include "tool/draw/drawn_facts.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::cli {

/// More than is legible, or worth the time.
inline constexpr std::size_t kDrawnNodesMax = 20'000;
inline constexpr std::size_t kDrawnWiresMax = 4'000;  ///< NVLinks from GPU to GPU

/// Errors  kUnsupported  there are more nodes or wires
Status CheckDrawable(const topology::Graph& graph);

/// The look of a line, in the place of that of its bandwidth.
struct LinkLook {
  double width = 1;
  std::string color = {};  ///< "#0072B2"
  std::string title = {};  ///< shown when the pointer rests on it
  std::string label = {};  ///< beside the line
};
struct LayoutLook {
  /// Of a line between two nodes, that with the lower index first. The line from a NUMA node to the
  /// other processors has it twice. Those that are not here are drawn as unused.
  std::map<std::pair<topology::NodeIndex, topology::NodeIndex>, LinkLook> lines = {};
  /// The last line of the text of a GPU (kDev) or a NIC.
  std::map<topology::NodeIndex, std::string> notes = {};
  /// Lines with the meaning of their width or color as labels.
  std::vector<LinkLook> legend = {};
};

/// \param title  stands above all
/// \param look   null: lines are as wide as their bandwidth
/// \param facts  null: nothing but the graph is known
/// \pre CheckDrawable has passed, or time is no matter
Drawing LayOut(const topology::Graph& graph, const std::string& title,
               const LayoutLook* look = nullptr, const DrawnFacts* facts = nullptr);

/// The width of a line that stands for a bandwidth: as its square root, 1 to 14 pixels.
double LineWidth(topology::Bandwidth bandwidth);

}  // namespace ringlet::cli
