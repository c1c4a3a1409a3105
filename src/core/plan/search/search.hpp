// From a graph of host-memory ranks to a plan.
#pragma once
#include <cstdint>

#include "plan/channels/channel_plan.hpp"
#include "plan/search/given_graphs.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::plan {

/// Bounds on the work, and the limits of the user.
struct SearchLimits {
  std::uint32_t ranks_max = std::uint32_t{1} << 24;
  /// Rings as plain as can be: one channel, NUMA nodes in order.
  bool plain = false;
  std::uint32_t channels_min = 1;
  std::uint32_t channels_max = kChannelsMax;
  GraphText given = {};  ///< channels that are not searched for
};

/// Chooses the channels that collectives will use on `graph`, whose ranks are in CPU memory.
///
/// Hosts come in the order of their lowest rank; within a host a ring goes from NUMA node to NUMA
/// node, so that it enters and leaves the host where the network is near and crosses each pair of
/// NUMA nodes as little as a ring can. If every host has two interfaces that together carry more, a
/// second channel goes the other way round: it enters by the interface by which the first leaves. A
/// tree goes from the rank nearest to the network to one rank of each NUMA node, and from these to
/// the others of the same.
///
/// \return a plan whose channels have the bandwidth of the narrowest hop; a single rank's is that
/// of
///         its own memory.
/// Errors  kUnsupported  more ranks than `limits.ranks_max`, or two neighbours without a path; the
///                       message names them
///         and as FollowGraphs, where channels are given
/// Cost    O(ranks + hosts * links of a host); ways are looked for once for hosts that are alike.
///         No I/O, no clock, no environment.
/// Same ranks and hosts, same plan, whatever the order in which hosts were given to Build.
Result<ChannelPlan> Search(const topology::Graph& graph, const SearchLimits& limits);

}  // namespace ringlet::plan
