// Plans the channels of ranks in CPU memory.
#pragma once
#include <cstdint>

#include "plan/channels/channel_plan.hpp"
#include "plan/search/given_graphs.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::plan {

/// Limits on the work, and the user's limits.
struct SearchLimits {
  std::uint32_t ranks_max = std::uint32_t{1} << 24;
  /// Plan the simplest ring: one channel, NUMA nodes in order.
  bool plain = false;
  std::uint32_t channels_min = 1;
  std::uint32_t channels_max = kChannelsMax;
  GraphText given = {};  ///< replace the search, if given
};

/// Chooses the channels for collectives on `graph`. All ranks must be in CPU memory.
///
/// Hosts are in the order of their lowest rank. Within a host, a ring visits NUMA node after NUMA
/// node. It enters and leaves the host near the network and crosses each pair of NUMA nodes as
/// rarely as a ring can. If every host has two interfaces that together carry more, a second
/// channel runs in the opposite direction: it enters where the first one leaves. A tree connects
/// the rank nearest to the network to one rank of each NUMA node, and these to the other ranks of
/// their node.
///
/// \return a plan with the bandwidth of the narrowest hop; for a single rank, of its own memory
/// Errors  kUnsupported  more ranks than `limits.ranks_max`, or two neighbours without a path; the
///                       message contains both ranks. Also the errors of FollowGraphs(), if
///                       channels are given.
/// Cost    O(ranks + hosts * links of a host). Equal hosts share one search for routes. Uses no
///         I/O, no clock and no environment.
///
/// Equal ranks and hosts give equal plans, independent of the order of the hosts in Build().
Result<ChannelPlan> Search(const topology::Graph& graph, const SearchLimits& limits);

}  // namespace ringlet::plan
