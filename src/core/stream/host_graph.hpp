// A graph of host functions, as a value: what captures write and executables are made of.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "stream/host_task.hpp"

namespace ringlet::stream {

/// A node, by its place in HostGraph::nodes.
using NodeIndex = std::uint32_t;

struct HostNode {
  TaskRef task = {};                  ///< null: it does nothing but wait
  std::vector<NodeIndex> after = {};  ///< sorted, each once; all lower than its own
};

/// Calls that a graph's owner wants when the last that may run its nodes is gone.
class GraphKeeper {
 public:
  GraphKeeper() = default;
  ~GraphKeeper();
  GraphKeeper(const GraphKeeper&) = delete;
  GraphKeeper& operator=(const GraphKeeper&) = delete;

  void OnEnd(std::function<void()> call) { calls_.push_back(std::move(call)); }

 private:
  std::vector<std::function<void()>> calls_;
};

/// Copies share what is kept, and nothing else.
class HostGraph {
 public:
  /// Bounds memory: more than a step of any model has.
  static constexpr std::size_t kNodesMax = std::size_t{1} << 20;

  /// Gives the new node. \param after  nodes that there are, in any order
  /// Errors  kInvalidArgument  one is not there; there are as many as there may be
  Result<NodeIndex> Add(TaskRef task, std::vector<NodeIndex> after);
  /// Adds those of `other`, whose roots come after `after`. Gives its leaves: `after`, if there is
  /// none. Errors  as Add, and then nothing is added
  Result<std::vector<NodeIndex>> Splice(const HostGraph& other, std::vector<NodeIndex> after);
  /// Calls it when this, its copies, and those who share `keeper` are gone.
  void OnEnd(std::function<void()> call);

  const std::vector<HostNode>& nodes() const { return nodes_; }
  /// Nodes that no node comes after, lowest first.
  std::vector<NodeIndex> Leaves() const;
  /// For each node, whether it is one of `tips` or before one of them.
  std::vector<bool> Before(const std::vector<NodeIndex>& tips) const;
  /// To be held by those who run its nodes.
  std::vector<std::shared_ptr<GraphKeeper>> keepers() const { return keepers_; }

 private:
  std::vector<HostNode> nodes_;
  // Shared by copies: the last to go ends them. Of what was spliced in, too.
  std::vector<std::shared_ptr<GraphKeeper>> keepers_;
};

/// Sorted, each once.
std::vector<NodeIndex> Union(std::vector<NodeIndex> some, const std::vector<NodeIndex>& others);

}  // namespace ringlet::stream
