#include "stream/executable.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ringlet::stream {
namespace {

using NodeLists = std::vector<std::vector<NodeIndex>>;

/// Returns the predecessors of each node, including those from its serial orders.
NodeLists Predecessors(const HostGraph& graph) {
  NodeLists predecessors;
  std::map<const SerialOrder*, NodeIndex> last;
  for (NodeIndex i = 0; i < graph.nodes().size(); ++i) {
    const HostNode& node = graph.nodes()[i];
    std::vector<NodeIndex> after = node.after;
    if (node.task) {
      for (const auto& order : node.task->orders) {
        const auto [found, first] = last.try_emplace(order.get(), i);
        if (!first && found->second != i) after.push_back(std::exchange(found->second, i));
      }
    }
    predecessors.push_back(Union(std::move(after), {}));
  }
  return predecessors;
}

std::vector<std::uint32_t> CountSuccessors(const NodeLists& predecessors) {
  std::vector<std::uint32_t> successors(predecessors.size(), 0);
  for (const auto& after : predecessors)
    for (const NodeIndex one : after) ++successors[one];
  return successors;
}

class Divider {
 public:
  explicit Divider(const HostGraph& graph)
      : graph_(graph),
        predecessors_(Predecessors(graph)),
        successors_(CountSuccessors(predecessors_)),
        segment_of_(graph.nodes().size(), 0) {}

  GraphDivision Run() {
    for (NodeIndex i = 0; i < graph_.nodes().size(); ++i) Place(i);
    for (auto& [order, span] : spans_) result_.orders.push_back(std::move(span));
    result_.lanes = std::min(lanes_wanted_, GraphDivision::kLanesMax);
    return std::move(result_);
  }

 private:
  void Place(NodeIndex node) {
    const std::vector<NodeIndex>& after = predecessors_[node];
    const bool continues = after.size() == 1 && successors_[after.front()] == 1;
    const std::uint32_t segment = continues ? segment_of_[after.front()] : Open(after);
    segment_of_[node] = segment;
    if (const TaskRef& task = graph_.nodes()[node].task) {
      result_.segments[segment].tasks.push_back(task);
      for (const auto& order : task->orders)
        spans_.try_emplace(order.get(), OrderSpan{order, segment, segment}).first->second.last =
            segment;
    }
  }

  std::uint32_t Open(const std::vector<NodeIndex>& after) {
    GraphSegment segment{.leaf = true};
    for (const NodeIndex one : after) segment.after.push_back(segment_of_[one]);
    segment.after = Union(std::move(segment.after), {});
    segment.lane = LaneBehind(segment.after);
    for (const std::uint32_t before : segment.after) result_.segments[before].leaf = false;
    result_.segments.push_back(std::move(segment));
    has_heir_.push_back(false);
    return static_cast<std::uint32_t>(result_.segments.size() - 1);
  }

  // The first successor of a segment runs in the segment's lane. Other successors run in parallel.
  std::uint32_t LaneBehind(const std::vector<std::uint32_t>& after) {
    for (const std::uint32_t before : after) {
      if (has_heir_[before]) continue;
      has_heir_[before] = true;
      return result_.segments[before].lane;
    }
    return lanes_wanted_++ % GraphDivision::kLanesMax;
  }

  const HostGraph& graph_;
  const NodeLists predecessors_;
  const std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> segment_of_;  // of each node
  std::vector<bool> has_heir_;             // of each segment: a successor uses its lane
  std::map<const SerialOrder*, OrderSpan> spans_;
  std::uint32_t lanes_wanted_ = 0;
  GraphDivision result_;
};

}  // namespace

GraphDivision Divide(const HostGraph& graph) {
  return Divider(graph).Run();
}

}  // namespace ringlet::stream
