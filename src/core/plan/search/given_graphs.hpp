// Channels that a graph file gives to ranks in CPU memory, in place of those that Search finds;
// and such a file for what it found.
#pragma once
#include <string>

#include "plan/channels/channel_plan.hpp"
#include "plan/channels/join.hpp"
#include "ringlet/status.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::plan {

/// A graph file that was read, NCCL_GRAPH_FILE.
struct GraphText {
  std::string file;  ///< its name for messages; empty: there is none
  std::string text;
};

/// `found` with the rings and trees of a file. Of the two, one that the file lacks stays as it was
/// found, over and over for as many channels as the other has.
///
/// A file is of one host. `dev` of a GPU is the local number of a rank: 0 for the lowest of its
/// host. `rank` is a rank of the communicator; all that are named are of one host. The other hosts
/// have as many ranks, which follow by their local numbers. The NICs that a file names must be of
/// that host, but decide nothing: links of ranks in CPU memory choose interfaces by themselves.
///
/// Errors  kInvalidArgument  as ReadGraphs; neither rings nor trees; a host with another number of
///                           ranks: names a rank there, and both numbers
/// Cost    O(bytes + ranks)
Result<ChannelPlan> FollowGraphs(const GraphText& given, const ChannelPlan& found,
                                 const topology::Graph& graph, const ChannelLimits& limits);

/// A graph file of the host of `rank`, which FollowGraphs takes. It has rings; trees only where
/// each rank passes on to one, as NCCL's files have no word for others.
/// \return ends with a newline
std::string GraphsOf(const ChannelPlan& plan, Rank rank);

}  // namespace ringlet::plan
