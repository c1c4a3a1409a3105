// From a graph to a plan.
#pragma once
#include <cstdint>

#include "plan/channel_plan.hpp"
#include "topology/graph.hpp"

namespace ringlet::plan {

/// Bounds on the work.
struct SearchLimits {
  std::uint32_t ranks_max = std::uint32_t{1} << 24;
};

/// Chooses the channels that collectives will use on `graph`.
///
/// One ring for now: hosts in the order of their lowest rank, within a host by NUMA node, then by
/// rank. So each host is entered and left once, and each pair of NUMA nodes is crossed as little as
/// a ring can. Between hosts a rank uses the interface to which its path is widest.
///
/// \return a plan with one channel; its bandwidth is that of the narrowest hop; a single rank's is
///         that of its own memory.
/// Errors  kUnsupported  more ranks than `limits.ranks_max`, or two neighbours without a path; the
///                       message names them
/// Cost    O(ranks * links of a host); no I/O, no clock, no environment.
/// Same ranks and hosts, same plan, whatever the order in which hosts were given to Build.
Result<ChannelPlan> Search(const topology::Graph& graph, const SearchLimits& limits);

}  // namespace ringlet::plan
