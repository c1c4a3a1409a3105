#include "topology/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::array<std::string_view, kNodeKinds> kNodeNames = {
    "GPU", "PCI", "NVS", "CPU", "NIC", "NET", "GIN", "RMA", "DEV", "CXB", "MEM"};
constexpr std::array<std::string_view, kNodeKinds> kNodeWords = {
    "gpu", "switch", "nvswitch", "numa", "nic", "net", "gin", "rma", "device", "c2c", "rank"};
constexpr std::array<std::string_view, 7> kLinkNames = {"LOC", "NVL", "C2C", "PCI",
                                                        "MEM", "SYS", "NET"};
constexpr std::array<std::string_view, 7> kLinkWords = {"local",  "nvlink", "c2c",    "pci",
                                                        "memory", "socket", "network"};

bool IsEnd(NodeKind kind) {
  return IsPort(kind) || kind == NodeKind::kGpu || kind == NodeKind::kRank;
}

std::string NodeText(const Node& node) {
  const std::string_view word = kNodeWords[static_cast<std::size_t>(node.kind)];
  switch (node.kind) {
    case NodeKind::kNet:
    case NodeKind::kGin:
    case NodeKind::kRma: return fmt::format("{} {}", word, Quoted(node.name));
    case NodeKind::kPci:
    case NodeKind::kDev:
    case NodeKind::kCxb: return fmt::format("{} {}", word, ToString(BusId{node.id}));
    case NodeKind::kNic: return fmt::format("{} {:x}", word, node.id);
    case NodeKind::kCpu:
      if (node.number == kUnknownNuma) return fmt::format("{} -1", word);
      break;
    case NodeKind::kGpu:
    case NodeKind::kNvs:
    case NodeKind::kRank: break;
  }
  return fmt::format("{} {}", word, node.number);
}

/// Returns true if a link of this kind may join two such nodes. `a` is not above `b` in NodeKind.
bool MayJoin(NodeKind a, NodeKind b, LinkKind kind) {
  using Node = NodeKind;
  switch (kind) {
    case LinkKind::kLocal:
      return (a == Node::kGpu && b == Node::kDev) || (a == b && a == Node::kDev) ||
             (a == b && a == Node::kPci);
    case LinkKind::kNvLink:
      return b == Node::kDev && (a == Node::kDev || a == Node::kNvs || a == Node::kCpu);
    case LinkKind::kC2c:
      return (a == Node::kCpu && (b == Node::kDev || b == Node::kCxb)) ||
             (a == Node::kDev && b == Node::kCxb);
    case LinkKind::kPci:
      return (a == Node::kPci || a == Node::kCpu) &&
             (b == Node::kPci || b == Node::kCpu || b == Node::kNic || b == Node::kDev) &&
             !(a == b && a == Node::kCpu);
    case LinkKind::kMemory: return a == Node::kCpu && b == Node::kRank;
    case LinkKind::kSocket: return a == b && a == Node::kCpu;
    case LinkKind::kNetwork: return (a == Node::kCpu || a == Node::kNic) && IsPort(b);
  }
  return false;
}

/// Files may contain asymmetric NVLinks. Sockets may hold different processors.
bool MayDiffer(LinkKind kind) {
  return kind == LinkKind::kNvLink || kind == LinkKind::kSocket;
}

struct Edge {
  std::uint32_t from, to;
  LinkKind kind;
  Bandwidth bandwidth;
  auto operator<=>(const Edge&) const = default;
};

bool EqualExceptBandwidth(const Edge& a, const Edge& b) {
  return std::tie(a.from, a.to, a.kind) == std::tie(b.from, b.to, b.kind);
}

bool HasReverseEdge(const std::vector<Edge>& edges, const Edge& edge) {
  Edge back{edge.to, edge.from, edge.kind, edge.bandwidth};
  if (!MayDiffer(edge.kind)) return std::binary_search(edges.begin(), edges.end(), back);
  back.bandwidth = {};
  const auto at = std::lower_bound(edges.begin(), edges.end(), back);
  return at != edges.end() && EqualExceptBandwidth(*at, back);
}

/// Describes the fault of a link, or returns "".
std::string_view Fault(const Graph& graph, std::uint32_t from, const Link& link) {
  const Node& node = graph.nodes()[from];
  const std::uint32_t to = Index(link.to);
  // Files may contain an NVLink from a GPU to itself, and NVLinks without bandwidth.
  const bool nvlink = link.kind == LinkKind::kNvLink;
  if (to >= graph.nodes().size() || (to == from && !nvlink)) return "has a link out of its host";
  const Node& other = graph.nodes()[to];
  const bool same_system = graph.hosts()[node.host].system == graph.hosts()[other.host].system;
  if (!same_system || (!nvlink && node.host != other.host)) return "has a link out of its host";
  const auto [low, high] = std::minmax(node.kind, other.kind);
  if (!MayJoin(low, high, link.kind)) return "has a link of a kind that its ends do not permit";
  if (link.bandwidth.mb_per_s == 0 && !nvlink) return "has a link without bandwidth";
  return "";
}

Error RefuseNode(const Graph& graph, std::uint32_t node, std::string_view why) {
  return {Code::kInvalidArgument,
          fmt::format("graph node {} ({} on host {}): {}", node, NodeText(graph.nodes()[node]),
                      Quoted(graph.hosts()[graph.nodes()[node].host].name), why)};
}

Status CheckLinks(const Graph& graph) {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    for (const Link& link : graph.nodes()[i].links) {
      const std::string_view fault = Fault(graph, i, link);
      if (!fault.empty()) return RefuseNode(graph, i, fault);
      edges.push_back({i, Index(link.to), link.kind, link.bandwidth});
    }
  }
  std::sort(edges.begin(), edges.end());
  const auto twice = std::adjacent_find(edges.begin(), edges.end(), EqualExceptBandwidth);
  if (twice != edges.end()) return RefuseNode(graph, twice->from, "has two equal links");
  for (const Edge& edge : edges) {
    if (HasReverseEdge(edges, edge)) continue;
    return RefuseNode(graph, edge.from,
                      fmt::format("has a link ({}) without an equal one back from {}",
                                  kLinkWords[static_cast<std::size_t>(edge.kind)],
                                  NodeText(graph.nodes()[edge.to])));
  }
  return Ok();
}

}  // namespace

std::string_view NameOf(LinkKind kind) {
  return kLinkNames[static_cast<std::size_t>(kind)];
}

std::string_view NameOf(NodeKind kind) {
  return kNodeNames[static_cast<std::size_t>(kind)];
}

std::optional<NodeIndex> Graph::Find(Rank rank) const {
  // Usually the ranks are 0 to n-1.
  if (ringlet::Index(rank) < ranks_.size() && ranks_[ringlet::Index(rank)].first == rank)
    return ranks_[ringlet::Index(rank)].second;
  const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank,
                                   [](const auto& entry, Rank key) { return entry.first < key; });
  if (at == ranks_.end() || at->first != rank) return std::nullopt;
  return at->second;
}

std::vector<NodeIndex> Graph::NodesOf(const SystemNodes& system, NodeKind kind) const {
  std::vector<NodeIndex> nodes;
  for (std::uint32_t i = system.first; i < system.end; ++i)
    if (nodes_[i].kind == kind) nodes.push_back(NodeIndex{i});
  return nodes;
}

Status Graph::Check() const {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.host >= hosts_.size() || i < hosts_[node.host].first || i >= hosts_[node.host].end)
      return Error{Code::kInvalidArgument,
                   fmt::format("graph node {} ({}): lies outside its host", i, NodeText(node))};
    if (IsEnd(node.kind) && node.links.size() != 1) return RefuseNode(*this, i, "needs one link");
    const bool ranked = node.kind == NodeKind::kRank || node.kind == NodeKind::kGpu;
    if (ranked && Find(Rank{node.number}) != NodeIndex{i})
      return RefuseNode(*this, i, "is not the node in the index of its rank");
    if (node.kind == NodeKind::kGpu && gpu(NodeIndex{i}).device != node.links.front().to)
      return RefuseNode(*this, i, "has a device that differs from the end of its link");
  }
  return CheckLinks(*this);
}

std::string ToText(const Graph& graph) {
  std::string text = "ringlet-graph 1\n";
  for (const HostNodes& host : graph.hosts()) {
    text += fmt::format("host {}\n", Quoted(host.name));
    for (std::uint32_t i = host.first; i < host.end; ++i) {
      const Node& node = graph.nodes()[i];
      text += fmt::format("  {}\n", NodeText(node));
      for (const Link& link : node.links) {
        text +=
            fmt::format("    {} {} MB/s to {}\n", kLinkWords[static_cast<std::size_t>(link.kind)],
                        link.bandwidth.mb_per_s, NodeText(graph.at(link.to)));
      }
    }
  }
  return text;
}

std::string NcclName(const Graph& graph, NodeIndex node) {
  const Node& one = graph.at(node);
  const std::uint32_t first = graph.SystemOf(node).first_host;
  return fmt::format("{}/{:x}-{:x}", NameOf(one.kind), one.host - first, one.id);
}

std::string NameOnHost(const Graph& graph, NodeIndex node) {
  return fmt::format("{}/0-{:x}", NameOf(graph.at(node).kind), graph.at(node).id);
}

}  // namespace ringlet::topology
