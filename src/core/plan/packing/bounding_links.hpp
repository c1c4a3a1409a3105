// Finds the links that bound a plan. Channels get more bandwidth only if these links become faster.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/routes/search_options.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::plan {

/// A link, or one direction of a NIC's port.
struct BoundingLink {
  topology::NodeIndex from{}, to{};  ///< for a port, both are its interface
  bool is_port = false;
  bool is_in = false;  ///< for a port: true for the incoming direction
  topology::LinkKind kind = topology::LinkKind::kPci;
  topology::Bandwidth bandwidth;
  /// Share of the bound. All shares add up to 1000, except for rounding. 0: unknown from prices.
  std::uint32_t per_mille = 0;
  bool operator==(const BoundingLink&) const = default;
};

struct BoundingLinks {
  /// Sorted by share, the largest first. If links can replace each other, their prices are not
  /// unique. The list therefore also contains the links that the plan fills, with share 0.
  std::vector<BoundingLink> list = {};
  /// True if shares are the dual prices of the packing. Otherwise all shares are 0, because the
  /// plan has one device or too many devices.
  bool by_prices = false;
};

/// Works for rings and trees. Returns an empty list for other patterns, for a graph without
/// channels and for a fallback.
/// \param paths  the paths of the plan `graph`
/// Cost    for few devices, or for some more if the plan is below its bound: as Packing::Solve;
///         otherwise O(links of all channels)
BoundingLinks FindBoundingLinks(const topology::Paths& paths, const SearchOptions& options,
                                const PatternGraph& graph);

}  // namespace ringlet::plan
