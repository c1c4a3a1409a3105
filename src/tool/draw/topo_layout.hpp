// Places the parts of a machine in its picture. Hosts contain NUMA nodes, which contain switches,
// which contain devices. GPUs and NICs stand in one row, with NVLinks below them. Pure.
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

/// Larger pictures are illegible and take too long.
inline constexpr std::size_t kDrawnNodesMax = 20'000;
inline constexpr std::size_t kDrawnWiresMax = 4'000;  ///< NVLinks between GPUs

/// Errors  kUnsupported  there are more nodes or wires than the limits
Status CheckDrawable(const topology::Graph& graph);

/// The look of a line. It replaces the look for a bandwidth.
struct LinkLook {
  double width = 1;
  std::string color = {};  ///< "#0072B2"
  std::string title = {};  ///< tooltip of the line
  std::string label = {};  ///< text beside the line
};
struct LayoutLook {
  /// Looks of lines by their two nodes, lower index first. The line from a NUMA node to other
  /// processors has that node twice. Lines without an entry are drawn as unused.
  std::map<std::pair<topology::NodeIndex, topology::NodeIndex>, LinkLook> lines = {};
  /// Last line of the text of a GPU (kDev) or a NIC.
  std::map<topology::NodeIndex, std::string> notes = {};
  /// Sample lines. The label of each explains its width or color.
  std::vector<LinkLook> legend = {};
};

/// \param title  stands above the picture
/// \param look   null: the width of lines shows their bandwidth
/// \param facts  null: only the graph is known
/// \pre CheckDrawable has passed, or time does not matter
Drawing LayOut(const topology::Graph& graph, const std::string& title,
               const LayoutLook* look = nullptr, const DrawnFacts* facts = nullptr);

/// Returns the width of a line for a bandwidth, proportional to its square root: 1 to 14 pixels.
double LineWidth(topology::Bandwidth bandwidth);

}  // namespace ringlet::cli
