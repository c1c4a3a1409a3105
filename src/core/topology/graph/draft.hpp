// A graph under construction. Callers add nodes and links one by one.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topology/graph/graph.hpp"

namespace ringlet::topology {

class Draft {
 public:
  Draft() = default;
  /// Copies a finished graph, for callers that remove nodes.
  explicit Draft(const Graph& graph);

  std::uint32_t AddHost(std::string name, std::uint64_t identity);
  /// Declares that two hosts share an NVLink domain.
  void SameSystem(std::uint32_t host, std::uint32_t other);
  /// The representative of the system that `host` currently belongs to.
  std::uint32_t RootOf(std::uint32_t host);

  NodeIndex Add(NodeKind kind, std::uint32_t host, std::uint32_t number, std::uint64_t id);
  Node& at(NodeIndex node) { return graph_.nodes_[Index(node)]; }
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(graph_.nodes_.size()); }
  void Describe(NodeIndex node, GpuFacts facts);
  void Describe(NodeIndex node, DeviceFacts facts);
  void Describe(NodeIndex node, SwitchFacts facts);
  void Describe(NodeIndex node, const CpuModel& facts);
  void Describe(NodeIndex node, NetFacts facts);
  SwitchFacts& pci_switch(NodeIndex node) { return graph_.switches_[at(node).facts]; }

  /// Adds a link in one direction. An existing link of this kind gets wider. Faster links are
  /// first.
  /// Source  NCCL's order of a node's links: the changed link moves up past slower ones
  void AddLink(NodeIndex from, NodeIndex to, LinkKind kind, Bandwidth bandwidth);
  /// Adds a link in both directions.
  void Join(NodeIndex a, NodeIndex b, LinkKind kind, Bandwidth bandwidth);
  /// Adds a link in both directions, at the end of the lists. \pre the nodes are not joined
  void Append(NodeIndex a, NodeIndex b, LinkKind kind, Bandwidth bandwidth);
  /// Adds a link in one direction, before slower ones. \pre the nodes are not joined
  void Insert(NodeIndex from, NodeIndex to, LinkKind kind, Bandwidth bandwidth);

  /// Removes a node. Finish() drops the links to it.
  void Remove(NodeIndex node) { removed_[Index(node)] = true; }
  bool removed(NodeIndex node) const { return removed_[Index(node)]; }

  /// Moves the link towards the processor to the end of the list, in every device and switch.
  void PutUpstreamLast();

  /// Returns the graph with its nodes in order. Sums of bandwidths are at most 4,294,967,295 MB/s.
  Graph Finish() &&;

 private:
  std::vector<std::uint32_t> OrderHosts();
  std::vector<NodeIndex> OrderNodes(const std::vector<std::uint32_t>& host_order,
                                    std::vector<std::uint32_t>& position) const;
  void SetRanges();

  Graph graph_;
  std::vector<bool> removed_;
  std::vector<std::uint32_t> system_of_;  // by host: a host of its system, itself at the root
};

}  // namespace ringlet::topology
