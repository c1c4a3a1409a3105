#include "stream/host_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringlet::stream {

GraphRetainer::~GraphRetainer() {
  for (const auto& call : calls_) call();
}

std::vector<NodeIndex> Union(std::vector<NodeIndex> some, const std::vector<NodeIndex>& others) {
  some.insert(some.end(), others.begin(), others.end());
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  return some;
}

Result<NodeIndex> HostGraph::Add(TaskRef task, std::vector<NodeIndex> after) {
  after = Union(std::move(after), {});
  if (!after.empty() && after.back() >= nodes_.size())
    return Error{Code::kInvalidArgument,
                 fmt::format("the graph has {} nodes and no node {}", nodes_.size(), after.back())};
  if (nodes_.size() >= kNodesMax)
    return Error{Code::kInvalidArgument, fmt::format("a graph has at most {} nodes", kNodesMax)};
  nodes_.push_back({.task = std::move(task), .after = std::move(after)});
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

Result<std::vector<NodeIndex>> HostGraph::Splice(const HostGraph& other,
                                                 std::vector<NodeIndex> after) {
  if (other.nodes_.empty()) return after;
  if (nodes_.size() + other.nodes_.size() > kNodesMax)
    return Error{Code::kInvalidArgument, fmt::format("a graph has at most {} nodes", kNodesMax)};
  const auto offset = static_cast<NodeIndex>(nodes_.size());
  for (const HostNode& node : other.nodes_) {
    std::vector<NodeIndex> moved = node.after.empty() ? after : node.after;
    if (!node.after.empty())
      for (NodeIndex& one : moved) one += offset;
    RINGLET_TRY(Add(node.task, std::move(moved)));
  }
  std::vector<NodeIndex> leaves = other.Leaves();
  for (NodeIndex& leaf : leaves) leaf += offset;
  for (const auto& keeper : other.keepers_)
    if (std::find(keepers_.begin(), keepers_.end(), keeper) == keepers_.end())
      keepers_.push_back(keeper);
  return leaves;
}

void HostGraph::OnEnd(std::function<void()> call) {
  // Each call gets its own keeper, because earlier copies must not delay it.
  keepers_.push_back(std::make_shared<GraphRetainer>());
  keepers_.back()->OnEnd(std::move(call));
}

std::vector<NodeIndex> HostGraph::Leaves() const {
  std::vector<bool> has_next(nodes_.size(), false);
  for (const HostNode& node : nodes_)
    for (const NodeIndex one : node.after) has_next[one] = true;
  std::vector<NodeIndex> leaves;
  for (NodeIndex i = 0; i < nodes_.size(); ++i)
    if (!has_next[i]) leaves.push_back(i);
  return leaves;
}

std::vector<bool> HostGraph::Before(const std::vector<NodeIndex>& tips) const {
  std::vector<bool> before(nodes_.size(), false);
  for (const NodeIndex tip : tips) before[tip] = true;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!before[i]) continue;
    for (const NodeIndex one : nodes_[i].after) before[one] = true;
  }
  return before;
}

}  // namespace ringlet::stream
