// Describes a host with ranks in CPU memory: the ring order of its NUMA nodes, and the bandwidth
// within the host and to the network.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/channels/channel_plan.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::plan {

/// Bandwidth of a ring's path into a host and out of it.
struct Routes {
  topology::Bandwidth entry, exit;
};

/// Ranks are local numbers. Local number 0 is the lowest rank of the host.
struct CpuMemoryShape {
  std::uint32_t ranks = 0;
  std::vector<LocalGroup> groups;    ///< the ranks of each NUMA node that has ranks, in ring order
  std::vector<std::uint32_t> order;  ///< the ranks of `groups` in one row
  topology::Bandwidth memory;        ///< bandwidth of one rank
  topology::Bandwidth inside;        ///< narrowest hop of the ring within the host
  topology::Bandwidth tree_inside;   ///< narrowest hop of the tree within the host
  Routes routes;                     ///< through the widest interface at each end
  /// Through two different interfaces, for rings in opposite directions. 0 with one interface.
  Routes both_ways;
  /// Two adjacent ranks of the ring without a path between them, if any.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> gap = {};
};

/// A key for hosts. Equal keys give equal results of ComputeCpuMemoryShape. The key covers NUMA
/// nodes, links, interfaces and the placement of ranks. \param ranks  ranks of one host, ascending
std::vector<std::uint32_t> CpuMemoryKey(const topology::Graph& graph, std::span<const Rank> ranks);

/// \param by_network  true: the ring enters and leaves near the network; false: in the order of
///                    NUMA nodes
/// Cost  O(NUMA nodes * links of the host * log nodes + NUMA nodes ^ 2 + ranks)
CpuMemoryShape ComputeCpuMemoryShape(const topology::Graph& graph, std::span<const Rank> ranks,
                                     bool by_network);

/// \param twice  adds a second channel with the reversed ring
NodeShape ShapeOf(const CpuMemoryShape& host, bool twice);

}  // namespace ringlet::plan
