// A graph that is being built: nodes come one by one, links find their places.
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
  /// Goes on with a finished one, to take something away.
  explicit Draft(const Graph& graph);

  std::uint32_t AddHost(std::string name, std::uint64_t identity);
  /// Two hosts that share an NVLink domain.
  void SameSystem(std::uint32_t host, std::uint32_t other);
  /// One host of the system that `host` is in so far: always the same one.
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

  /// A link one way: what is there already of this kind becomes wider, and faster ones come first.
  /// Source  how NCCL orders the links of a node: the touched one moves up past slower ones
  void AddLink(NodeIndex from, NodeIndex to, LinkKind kind, Bandwidth bandwidth);
  /// Both ways.
  void Join(NodeIndex a, NodeIndex b, LinkKind kind, Bandwidth bandwidth);
  /// Both ways, at the end of the lists. \pre they are not joined.
  void Append(NodeIndex a, NodeIndex b, LinkKind kind, Bandwidth bandwidth);
  /// One way, before slower ones. \pre they are not joined.
  void Insert(NodeIndex from, NodeIndex to, LinkKind kind, Bandwidth bandwidth);

  /// Takes a node away; links to it disappear when the graph is finished.
  void Remove(NodeIndex node) { removed_[Index(node)] = true; }
  bool removed(NodeIndex node) const { return removed_[Index(node)]; }

  /// In every device and switch below a processor, the link towards it comes last.
  void PutUpstreamLast();

  /// The graph, with its nodes in order. Sums of bandwidths stay below 4,294,967,295 MB/s.
  Graph Finish() &&;

 private:
  std::vector<std::uint32_t> OrderHosts();
  std::vector<NodeIndex> OrderNodes(const std::vector<std::uint32_t>& host_order,
                                    std::vector<std::uint32_t>& position) const;
  void SetRanges();

  Graph graph_;
  std::vector<bool> removed_;
  std::vector<std::uint32_t> system_of_;  // of a host: one of its system, itself at the root
};

}  // namespace ringlet::topology
