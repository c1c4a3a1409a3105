// One kind of host whose ranks are in CPU memory: in which order a ring passes its NUMA nodes, and
// how wide the ways are, within it and out of it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/channels/channel_plan.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::plan {

/// How wide the ways are by which a ring comes into a host and leaves it.
struct Routes {
  topology::Bandwidth entry, exit;
};

/// In local numbers: 0 for the lowest rank of the host.
struct CpuMemoryShape {
  std::uint32_t ranks = 0;
  std::vector<LocalGroup> groups;    ///< of NUMA nodes that have ranks, in order of the ring
  std::vector<std::uint32_t> order;  ///< the same in one row
  topology::Bandwidth memory;        ///< of one rank
  topology::Bandwidth inside;        ///< narrowest hop of the ring within the host
  topology::Bandwidth tree_inside;   ///< and of the tree
  Routes routes;                     ///< by the interfaces that are widest at each end
  /// By two different ones, for two rings that go opposite ways; 0 where there is but one.
  Routes both_ways;
  /// Two neighbours without a path, if there are any.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> gap = {};
};

/// Equal for hosts that LookAt finds the same for: NUMA nodes, links, interfaces, and where ranks
/// are. \param ranks  of one host, ascending
std::vector<std::uint32_t> CpuMemoryKey(const topology::Graph& graph, std::span<const Rank> ranks);

/// \param by_network  enter and leave where the network is near; else NUMA nodes come in order
/// Cost  O(NUMA nodes * links of the host * log nodes + NUMA nodes ^ 2 + ranks)
CpuMemoryShape LookAt(const topology::Graph& graph, std::span<const Rank> ranks, bool by_network);

/// \param twice  with a second channel, whose ring goes the other way round
NodeShape ShapeOf(const CpuMemoryShape& host, bool twice);

}  // namespace ringlet::plan
