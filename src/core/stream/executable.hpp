// A graph made ready to be launched: which nodes run after one another on one worker, and which
// beside each other.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "stream/host_graph.hpp"

namespace ringlet::stream {

/// Nodes that run as one item: each but the first has one predecessor, the one before it, which has
/// no other successor.
struct GraphSegment {
  std::vector<TaskRef> tasks = {};
  std::vector<std::uint32_t> after = {};  ///< segments, all lower than its own
  std::uint32_t lane = 0;                 ///< the worker that runs it; 0: the stream's own
  bool leaf = false;                      ///< no segment comes after it
};

/// The first and the last segment of a graph that a SerialOrder has items in.
struct OrderSpan {
  std::shared_ptr<SerialOrder> order;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// A graph, divided.
struct GraphDivision {
  /// Branches that run beside each other. A graph with more shares these: collectives of more
  /// communicators could then wait for each other, as on a device with too few queues.
  static constexpr std::uint32_t kLanesMax = 32;

  std::vector<GraphSegment> segments = {};  ///< each behind those that it waits for
  std::vector<OrderSpan> orders = {};
  std::uint32_t lanes = 0;
};

/// Nodes of one SerialOrder run in the order in which they were added, on whatever branches.
/// Cost  linear in nodes and dependencies
GraphDivision Divide(const HostGraph& graph);

}  // namespace ringlet::stream
