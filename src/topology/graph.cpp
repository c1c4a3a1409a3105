#include "topology/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::array<std::string_view, 3> kNodeNames = {"numa", "net", "rank"};
constexpr std::array<std::string_view, 3> kLinkNames = {"memory", "socket", "network"};

std::string NodeText(const Node& node) {
  const std::string_view kind = kNodeNames[static_cast<std::size_t>(node.kind)];
  if (node.kind == NodeKind::kNet) return fmt::format("{} {}", kind, Quoted(node.name));
  return fmt::format("{} {}", kind, node.number);
}

/// What a link between two kinds of nodes is; empty where there is none.
std::optional<LinkKind> KindBetween(NodeKind a, NodeKind b) {
  if (a == NodeKind::kCpu && b == NodeKind::kCpu) return LinkKind::kSocket;
  if (a != NodeKind::kCpu && b != NodeKind::kCpu) return std::nullopt;
  const NodeKind leaf = a == NodeKind::kCpu ? b : a;
  return leaf == NodeKind::kRank ? LinkKind::kMemory : LinkKind::kNetwork;
}

}  // namespace

Status Graph::Check() const {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const auto refuse = [&](std::string_view why) {
      return Error{Code::kInvalidArgument,
                   fmt::format("graph node {} ({}): {}", i, NodeText(node), why)};
    };
    const HostNodes& host = hosts_[node.host];
    if (i < host.first || i >= host.end) return refuse("lies outside its host");
    if (node.kind != NodeKind::kCpu && node.links.size() != 1) return refuse("needs one link");
    if (node.kind == NodeKind::kRank && NodeOf(Rank{node.number}) != NodeIndex{i})
      return refuse("is not where its rank is looked up");
    for (const Link& link : node.links) {
      const std::uint32_t to = Index(link.to);
      if (to < host.first || to >= host.end || to == i) return refuse("has a link out of its host");
      if (KindBetween(node.kind, nodes_[to].kind) != link.kind) return refuse("has an odd link");
      if (link.bandwidth.mb_per_s == 0) return refuse("has a link without bandwidth");
      // Ranks and interfaces have one link each, so look from their side: CPUs may have thousands.
      if (node.kind == NodeKind::kCpu && nodes_[to].kind != NodeKind::kCpu) continue;
      const std::vector<Link>& back = nodes_[to].links;
      const auto same = [&](const Link& other) {
        return Index(other.to) == i && other.kind == link.kind && other.bandwidth == link.bandwidth;
      };
      if (std::count_if(back.begin(), back.end(), same) != 1)
        return refuse("has a link without an equal one back");
    }
  }
  return Ok();
}

class GraphBuilder {
 public:
  Result<Graph> Run(std::span<const HostView> hosts, std::span<const RankPlace> ranks) {
    RINGLET_TRY(CheckHosts(hosts));
    RINGLET_TRY(CheckRanks(hosts, ranks));
    std::vector<std::vector<RankPlace>> placed(hosts.size());
    for (const RankPlace& place : ranks) placed[place.host].push_back(place);
    graph_.rank_nodes_.resize(ranks.size());
    for (std::uint32_t host = 0; host < hosts.size(); ++host) {
      std::sort(placed[host].begin(), placed[host].end(),
                [](const RankPlace& a, const RankPlace& b) { return a.rank < b.rank; });
      RINGLET_TRY(AddHost(hosts[host], host, placed[host]));
    }
    return std::move(graph_);
  }

 private:
  static Error Refuse(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

  static Status CheckHosts(std::span<const HostView> hosts) {
    if (hosts.empty() || hosts.size() > kGraphHostsMax)
      return Refuse(fmt::format("a graph has 1 to {} hosts, not {}", kGraphHostsMax, hosts.size()));
    std::vector<std::pair<std::uint64_t, std::size_t>> identities;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const Status status = hosts[i].Check();
      if (!status.ok())
        return Refuse(fmt::format("host {}: {}", Quoted(hosts[i].name), status.error().message));
      identities.emplace_back(hosts[i].identity, i);
    }
    std::sort(identities.begin(), identities.end());
    const auto same = std::adjacent_find(identities.begin(), identities.end(),
                                         [](auto& a, auto& b) { return a.first == b.first; });
    if (same == identities.end()) return Ok();
    return Refuse(fmt::format("hosts {} and {} have the same identity {:#018x}",
                              Quoted(hosts[same->second].name),
                              Quoted(hosts[std::next(same)->second].name), same->first));
  }

  static Status CheckRanks(std::span<const HostView> hosts, std::span<const RankPlace> ranks) {
    if (ranks.empty() || ranks.size() > kGraphRanksMax)
      return Refuse(fmt::format("a graph has 1 to {} ranks, not {}", kGraphRanksMax, ranks.size()));
    std::vector<bool> seen(ranks.size(), false);
    for (const RankPlace& place : ranks) {
      const std::uint32_t rank = Index(place.rank);
      if (place.host >= hosts.size())
        return Refuse(fmt::format("rank {} is on host {} of {}", rank, place.host, hosts.size()));
      if (rank < ranks.size() && seen[rank])
        return Refuse(fmt::format("rank {} is placed twice", rank));
      if (rank < ranks.size()) seen[rank] = true;
    }
    const auto missing = std::find(seen.begin(), seen.end(), false);
    if (missing == seen.end()) return Ok();
    return Refuse(fmt::format("rank {} of {} has no place", missing - seen.begin(), ranks.size()));
  }

  NodeIndex Add(NodeKind kind, std::uint32_t host, std::uint32_t number, std::string name = {}) {
    const auto index = static_cast<std::uint32_t>(graph_.nodes_.size());
    graph_.nodes_.push_back({kind, host, number, std::move(name), {}});
    return NodeIndex{index};
  }

  void Join(NodeIndex a, NodeIndex b, LinkKind kind, Bandwidth bandwidth) {
    graph_.nodes_[Index(a)].links.push_back({b, kind, bandwidth});
    graph_.nodes_[Index(b)].links.push_back({a, kind, bandwidth});
  }

  Status AddHost(const HostView& view, std::uint32_t host, const std::vector<RankPlace>& ranks) {
    const auto first = static_cast<std::uint32_t>(graph_.nodes_.size());
    std::vector<NodeIndex> numa_nodes;
    for (const NumaNode& numa : view.numa_nodes) {
      numa_nodes.push_back(Add(NodeKind::kCpu, host, numa.id));
      for (std::size_t i = 0; i + 1 < numa_nodes.size(); ++i)
        Join(numa_nodes[i], numa_nodes.back(), LinkKind::kSocket, SocketInterconnect(view.cpu));
    }
    AddNets(view, host, numa_nodes);
    for (const RankPlace& place : ranks) {
      const auto at = std::find_if(view.numa_nodes.begin(), view.numa_nodes.end(),
                                   [&](const NumaNode& numa) { return numa.id == place.numa; });
      if (at == view.numa_nodes.end())
        return Refuse(fmt::format("rank {} is at NUMA node {}, which host {} lacks",
                                  Index(place.rank), place.numa, Quoted(view.name)));
      const NodeIndex node = Add(NodeKind::kRank, host, Index(place.rank));
      graph_.rank_nodes_[Index(place.rank)] = node;
      const auto position = static_cast<std::size_t>(at - view.numa_nodes.begin());
      Join(numa_nodes[position], node, LinkKind::kMemory, kRankMemory);
    }
    graph_.hosts_.push_back({view.name, first, static_cast<std::uint32_t>(graph_.nodes_.size())});
    return Ok();
  }

  void AddNets(const HostView& view, std::uint32_t host, const std::vector<NodeIndex>& numa_nodes) {
    std::vector<NetInterface> nets = view.nets;
    if (nets.empty()) nets.push_back({"unknown", std::nullopt, std::nullopt});
    for (std::uint32_t i = 0; i < nets.size(); ++i) {
      // As NCCL does, an interface of unknown place hangs off the first NUMA node.
      const auto at = std::find_if(view.numa_nodes.begin(), view.numa_nodes.end(),
                                   [&](const NumaNode& numa) { return numa.id == nets[i].numa; });
      const bool known = at != view.numa_nodes.end();
      const auto position = known ? static_cast<std::size_t>(at - view.numa_nodes.begin()) : 0;
      const NodeIndex net = Add(NodeKind::kNet, host, i, nets[i].name);
      Join(numa_nodes[position], net, LinkKind::kNetwork,
           NetworkInterface(nets[i].speed_mbit_per_s));
    }
  }

  Graph graph_;
};

Result<Graph> Build(std::span<const HostView> hosts, std::span<const RankPlace> ranks) {
  return GraphBuilder().Run(hosts, ranks);
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
            fmt::format("    {} {} MB/s to {}\n", kLinkNames[static_cast<std::size_t>(link.kind)],
                        link.bandwidth.mb_per_s, NodeText(graph.at(link.to)));
      }
    }
  }
  return text;
}

}  // namespace ringlet::topology
