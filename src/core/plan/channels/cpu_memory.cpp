#include "plan/channels/cpu_memory.hpp"

#include <algorithm>
#include <tuple>

#include "topology/paths/paths.hpp"

namespace ringlet::plan {
namespace {

using topology::Bandwidth;
using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;

/// The NUMA node that holds a rank.
NodeIndex NumaOf(const Graph& graph, Rank rank) {
  return graph.at(rank).links.front().to;
}

/// The paths between groups of ranks, and from groups to interfaces.
class GroupPaths {
 public:
  GroupPaths(const Graph& graph, std::span<const Rank> ranks)
      : graph_(graph), host_(graph.hosts()[graph.at(ranks.front()).host]) {
    std::vector<std::pair<NodeIndex, std::uint32_t>> by_numa;
    for (std::uint32_t local = 0; local < ranks.size(); ++local)
      by_numa.emplace_back(NumaOf(graph, ranks[local]), local);
    std::ranges::sort(by_numa, [&](const auto& a, const auto& b) {
      return std::tuple(graph.at(a.first).number, a.second) <
             std::tuple(graph.at(b.first).number, b.second);
    });
    for (std::size_t i = 0; i < by_numa.size(); ++i) {
      if (i == 0 || by_numa[i].first != by_numa[i - 1].first) {
        groups_.emplace_back();
        first_.push_back(graph.NodeOf(ranks[by_numa[i].second]));
        widest_.push_back(topology::WidestFrom(graph, first_.back()));
      }
      groups_.back().push_back(by_numa[i].second);
    }
    for (std::uint32_t i = host_.first; i < host_.end; ++i)
      if (graph.nodes()[i].kind == NodeKind::kNet) nets_.push_back(NodeIndex{i});
  }

  /// Returns true if one of the widest interfaces for the group is attached to its own NUMA node.
  bool Near(std::size_t group) const {
    const Bandwidth widest = Outside(group);
    for (std::size_t net = 0; net < nets_.size(); ++net)
      if (ToNet(group, net) == widest && CpuOf(nets_[net]) == NumaAt(group)) return true;
    return false;
  }

  const std::vector<LocalGroup>& groups() const { return groups_; }
  std::size_t nets() const { return nets_.size(); }
  Bandwidth Memory() const { return At(0, first_[0]); }
  Bandwidth Within(std::size_t group) const {
    // Two ranks of a NUMA node meet in its memory. Their path is as wide as the link of one rank.
    return At(group, first_[group]);
  }
  Bandwidth Between(std::size_t from, std::size_t to) const { return At(from, first_[to]); }
  Bandwidth ToNet(std::size_t group, std::size_t net) const { return At(group, nets_[net]); }
  Bandwidth Outside(std::size_t group) const {
    Bandwidth best;
    for (std::size_t net = 0; net < nets_.size(); ++net) best = std::max(best, ToNet(group, net));
    return best;
  }

 private:
  NodeIndex NumaAt(std::size_t group) const { return graph_.at(first_[group]).links.front().to; }

  /// The NUMA node above an interface. The link towards the NUMA node is a node's last link.
  NodeIndex CpuOf(NodeIndex node) const {
    constexpr std::size_t kStepsMax = topology::HostView::kDepthMax + 2;
    for (std::size_t step = 0; step < kStepsMax; ++step) {
      if (graph_.at(node).kind == NodeKind::kCpu || graph_.at(node).links.empty()) break;
      node = graph_.at(node).links.back().to;
    }
    return node;
  }

  Bandwidth At(std::size_t group, NodeIndex to) const {
    return widest_[group][Index(to) - host_.first];
  }

  const Graph& graph_;
  const topology::HostNodes& host_;
  std::vector<LocalGroup> groups_;
  std::vector<NodeIndex> first_;  // the graph node of each group's first rank
  std::vector<std::vector<Bandwidth>> widest_;
  std::vector<NodeIndex> nets_;
};

Bandwidth NarrowestOf(const GroupPaths& ground, const std::vector<std::size_t>& row, bool cycle) {
  Bandwidth narrowest = ground.Memory();
  const std::size_t hops = cycle ? row.size() : row.size() - 1;
  for (std::size_t i = 0; i < hops; ++i)
    if (row.size() > 1)
      narrowest = std::min(narrowest, ground.Between(row[i], row[(i + 1) % row.size()]));
  return narrowest;
}

/// The groups from `start` on, cyclically.
std::vector<std::size_t> RowFrom(std::size_t start, std::size_t groups) {
  std::vector<std::size_t> row;
  for (std::size_t i = 0; i < groups; ++i) row.push_back((start + i) % groups);
  return row;
}

/// The rotation of the groups with the highest bandwidth. Ties: a first group near the network
/// wins, then a last group near the network, then the lowest start.
std::vector<std::size_t> BestRow(const GroupPaths& ground) {
  std::vector<std::size_t> best;
  std::tuple<Bandwidth, bool, bool> best_score;
  for (std::size_t start = 0; start < ground.groups().size(); ++start) {
    std::vector<std::size_t> row = RowFrom(start, ground.groups().size());
    const std::tuple score(std::min({NarrowestOf(ground, row, false), ground.Outside(row.front()),
                                     ground.Outside(row.back())}),
                           ground.Near(row.front()), ground.Near(row.back()));
    if (best.empty() || score > best_score) best = std::move(row), best_score = score;
  }
  return best;
}

/// The best pair of two different interfaces, one for each end.
Routes TwoNets(const GroupPaths& ground, std::size_t front, std::size_t back) {
  // Looks at the first 64 interfaces only. A host has few NICs, and most are alike.
  constexpr std::size_t kNetsMax = 64;
  const std::size_t nets = std::min(ground.nets(), kNetsMax);
  Routes best;
  for (std::size_t a = 0; a < nets; ++a)
    for (std::size_t b = 0; b < nets; ++b) {
      if (a == b) continue;
      const Routes routes{ground.ToNet(front, a), ground.ToNet(back, b)};
      if (std::min(routes.entry, routes.exit) > std::min(best.entry, best.exit)) best = routes;
    }
  return best;
}

Bandwidth TreeNarrowest(const GroupPaths& ground, const std::vector<std::size_t>& row) {
  Bandwidth narrowest = ground.Memory();
  for (std::size_t i = 1; i < row.size(); ++i)
    narrowest = std::min({narrowest, ground.Between(row[(i - 1) / 2], row[i]),
                          ground.Between(row[i], row[(i - 1) / 2])});
  return narrowest;
}

/// The first rank passes data to the first rank of each NUMA node, and these pass it to the ranks
/// of their node. A rank has at most two children of each kind.
LocalTree TreeOf(const std::vector<LocalGroup>& groups) {
  LocalTree tree;
  std::vector<std::uint32_t> begins;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto begin = static_cast<std::uint32_t>(tree.order.size());
    for (std::uint32_t member = 0; member < groups[i].size(); ++member) {
      if (member > 0)
        tree.above.push_back(begin + (member - 1) / 2);
      else if (i > 0)
        tree.above.push_back(begins[(i - 1) / 2]);
      tree.order.push_back(groups[i][member]);
    }
    begins.push_back(begin);
  }
  return tree;
}

}  // namespace

std::vector<std::uint32_t> CpuMemoryKey(const Graph& graph, std::span<const Rank> ranks) {
  const topology::HostNodes& host = graph.hosts()[graph.at(ranks.front()).host];
  std::vector<std::uint32_t> key;
  for (std::uint32_t i = host.first; i < host.end; ++i) {
    const topology::Node& node = graph.nodes()[i];
    if (node.kind == NodeKind::kRank) continue;
    key.push_back(static_cast<std::uint32_t>(node.kind));
    key.push_back(node.number);
    for (const topology::Link& link : node.links) {
      if (graph.at(link.to).kind == NodeKind::kRank) continue;
      key.push_back(Index(link.to) - host.first);
      key.push_back(link.bandwidth.mb_per_s);
    }
  }
  for (const Rank rank : ranks) {
    key.push_back(Index(NumaOf(graph, rank)) - host.first);
    key.push_back(graph.at(rank).links.front().bandwidth.mb_per_s);
  }
  return key;
}

CpuMemoryShape ComputeCpuMemoryShape(const Graph& graph, std::span<const Rank> ranks,
                                     bool by_network) {
  const GroupPaths ground(graph, ranks);
  const std::vector<std::size_t> row =
      by_network ? BestRow(ground) : RowFrom(0, ground.groups().size());
  CpuMemoryShape host;
  host.ranks = static_cast<std::uint32_t>(ranks.size());
  for (const std::size_t group : row) {
    host.groups.push_back(ground.groups()[group]);
    host.order.insert(host.order.end(), host.groups.back().begin(), host.groups.back().end());
  }
  host.memory = ground.Memory();
  const bool alone = graph.rank_count() == ranks.size();
  host.inside = NarrowestOf(ground, row, alone);
  host.tree_inside = TreeNarrowest(ground, row);
  host.routes = {ground.Outside(row.front()), ground.Outside(row.back())};
  host.both_ways = TwoNets(ground, row.front(), row.back());
  for (std::size_t i = 0; i + 1 < row.size() && !host.gap; ++i)
    if (ground.Between(row[i], row[i + 1]).mb_per_s == 0)
      host.gap = std::pair(host.groups[i].back(), host.groups[i + 1].front());
  if (alone && row.size() > 1 && !host.gap && ground.Between(row.back(), row.front()).mb_per_s == 0)
    host.gap = std::pair(host.groups.back().back(), host.groups.front().front());
  return host;
}

NodeShape ShapeOf(const CpuMemoryShape& host, bool twice) {
  NodeShape shape{host.ranks, {host.order}, {TreeOf(host.groups)}, host.groups, host.order.front()};
  std::ranges::sort(shape.groups);
  if (!twice) return shape;
  shape.rings.emplace_back(host.order.rbegin(), host.order.rend());
  // The second tree and the second ring begin at the same group.
  std::vector<LocalGroup> turned(host.groups.rbegin(), host.groups.rend());
  shape.trees.push_back(TreeOf(turned));
  return shape;
}

}  // namespace ringlet::plan
