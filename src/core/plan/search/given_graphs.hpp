// Replaces the channels that Search() finds for ranks in CPU memory by those of a graph file.
// Writes such files.
#pragma once
#include <string>

#include "plan/channels/channel_plan.hpp"
#include "plan/channels/join.hpp"
#include "ringlet/status.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::plan {

/// The contents of a graph file, NCCL_GRAPH_FILE.
struct GraphText {
  std::string file;  ///< name for messages; empty: no file is given
  std::string text;
};

/// Returns `found` with the rings and trees of a file. If the file lacks rings or trees, the found
/// ones stay. They repeat until there are as many as the other kind has.
///
/// A file describes one host. `dev` of a GPU is a rank's local number: 0 for the lowest rank of its
/// host. `rank` is a rank of the communicator. All ranks of a file are on one host. Every other
/// host has the same number of ranks, and its ranks follow by local number. The NICs of a file must
/// exist on that host, but are otherwise ignored: links of ranks in CPU memory choose their own
/// interfaces.
///
/// Errors  kInvalidArgument  as ReadGraphs; neither rings nor trees; a host with another number of
///                           ranks: the message contains a rank there, and both numbers
/// Cost    O(bytes + ranks)
Result<ChannelPlan> FollowGraphs(const GraphText& given, const ChannelPlan& found,
                                 const topology::Graph& graph, const ChannelLimits& limits);

/// Writes a graph file for the host of `rank` that FollowGraphs() accepts. It contains rings. It
/// contains trees only if each rank has one child, because NCCL's files cannot describe others.
/// \return text that ends with a newline
std::string GraphsOf(const ChannelPlan& plan, Rank rank);

}  // namespace ringlet::plan
