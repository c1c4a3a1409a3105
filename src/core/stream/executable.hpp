// A graph that is ready to launch. It states which nodes one worker runs in sequence and which
// nodes run in parallel.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "stream/host_graph.hpp"

namespace ringlet::stream {

/// Nodes that run as one item. Each node but the first has the previous node as its only
/// predecessor and is the only successor of that node.
struct GraphSegment {
  std::vector<TaskRef> tasks = {};
  std::vector<std::uint32_t> after = {};  ///< segments, all with lower indices
  std::uint32_t lane = 0;                 ///< the worker that runs it; 0: the stream's own
  bool leaf = false;                      ///< no segment waits for it
};

/// The first and the last segment that contain items of a SerialOrder.
struct OrderSpan {
  std::shared_ptr<SerialOrder> order;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// A graph, divided into segments.
struct GraphDivision {
  /// Maximum number of lanes. A graph with more branches shares them. Collectives of more
  /// communicators can then wait for each other, as on a device with too few queues.
  static constexpr std::uint32_t kLanesMax = 32;

  std::vector<GraphSegment> segments = {};  ///< each behind the segments that it waits for
  std::vector<OrderSpan> orders = {};
  std::uint32_t lanes = 0;
};

/// Nodes of one SerialOrder run in the order of their addition, even on different branches.
/// Cost  linear in nodes and dependencies
GraphDivision Divide(const HostGraph& graph);

}  // namespace ringlet::stream
