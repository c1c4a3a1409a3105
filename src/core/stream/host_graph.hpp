// A graph of host functions, as a value. Captures write it and executables are made of it.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "stream/host_task.hpp"

namespace ringlet::stream {

/// Index of a node in HostGraph::nodes.
using NodeIndex = std::uint32_t;

struct HostNode {
  TaskRef task = {};                  ///< null: the node only waits
  std::vector<NodeIndex> after = {};  ///< sorted and unique; all lower than its own index
};

/// Runs callbacks of a graph's owner after the last object that may run the graph's nodes.
class GraphRetainer {
 public:
  GraphRetainer() = default;
  ~GraphRetainer();
  GraphRetainer(const GraphRetainer&) = delete;
  GraphRetainer& operator=(const GraphRetainer&) = delete;

  void OnEnd(std::function<void()> call) { calls_.push_back(std::move(call)); }

 private:
  std::vector<std::function<void()>> calls_;
};

/// Copies share their keepers only.
class HostGraph {
 public:
  /// Bounds memory. A step of any model has fewer nodes.
  static constexpr std::size_t kNodesMax = std::size_t{1} << 20;

  /// Adds a node and returns it. \param after  existing nodes, in any order
  /// Errors  kInvalidArgument  a predecessor does not exist, or the graph is full
  Result<NodeIndex> Add(TaskRef task, std::vector<NodeIndex> after);
  /// Adds the nodes of `other`. Its roots follow `after`. Returns the leaves of `other`, or `after`
  /// if `other` is empty. Errors  as Add; the graph is then unchanged
  Result<std::vector<NodeIndex>> Splice(const HostGraph& other, std::vector<NodeIndex> after);
  /// Calls `call` when this graph, its later copies and all holders of its keepers are destroyed.
  void OnEnd(std::function<void()> call);

  const std::vector<HostNode>& nodes() const { return nodes_; }
  /// Returns the nodes without successors, lowest first.
  std::vector<NodeIndex> Leaves() const;
  /// Returns for each node true if it is one of `tips` or a predecessor of one, direct or indirect.
  std::vector<bool> Before(const std::vector<NodeIndex>& tips) const;
  /// Objects that run its nodes must hold these.
  std::vector<std::shared_ptr<GraphRetainer>> keepers() const { return keepers_; }

 private:
  std::vector<HostNode> nodes_;
  // Shared by copies. The last owner runs the callbacks. Includes keepers of spliced graphs.
  std::vector<std::shared_ptr<GraphRetainer>> keepers_;
};

/// Sorted and unique.
std::vector<NodeIndex> Union(std::vector<NodeIndex> some, const std::vector<NodeIndex>& others);

}  // namespace ringlet::stream
