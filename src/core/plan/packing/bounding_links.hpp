// The links that bound a plan: which of them would have to be faster for channels to have more.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/routes/search_options.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::plan {

/// A link, or one direction of a port of a NIC.
struct BoundingLink {
  topology::NodeIndex from{}, to{};  ///< of a port both are its interface
  bool is_port = false;
  bool is_in = false;  ///< of a port: what comes in by it
  topology::LinkKind kind = topology::LinkKind::kPci;
  topology::Bandwidth bandwidth;
  /// Of the bound; all shares make up 1000, but for rounding. 0: by prices nothing is known.
  std::uint32_t per_mille = 0;
  bool operator==(const BoundingLink&) const = default;
};

struct BoundingLinks {
  /// Those that stand for most first. Prices of links that could stand for each other are not
  /// unique, so that links of share 0 follow which the plan fills as well.
  std::vector<BoundingLink> list = {};
  /// Shares are those of the dual prices of the packing. If not, all are 0: such plans are of many
  /// devices, or of one.
  bool by_prices = false;
};

/// Of rings and trees only; empty for other patterns, without channels, or for a fallback.
/// \param paths  those of which `graph` is the plan
/// Cost    that of Packing::Solve for few devices, or for some more if the plan is below its bound;
///         else O(links of all channels)
BoundingLinks FindBoundingLinks(const topology::Paths& paths, const SearchOptions& options,
                                const PatternGraph& graph);

}  // namespace ringlet::plan
