#include "topology/graph/draft.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace ringlet::topology {
namespace {

constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

Bandwidth Sum(Bandwidth a, Bandwidth b) {
  const std::uint64_t sum = std::uint64_t{a.mb_per_s} + b.mb_per_s;
  return {static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()))};
}

/// Moves links[at] up past slower links.
void SortUp(std::vector<Link>& links, std::size_t at) {
  for (; at > 0 && links[at - 1].bandwidth < links[at].bandwidth; --at)
    std::swap(links[at - 1], links[at]);
}

}  // namespace

Draft::Draft(const Graph& graph) : graph_(graph), removed_(graph.nodes().size(), false) {
  for (const HostNodes& host : graph.hosts())
    system_of_.push_back(graph.systems()[host.system].first_host);
}

std::uint32_t Draft::AddHost(std::string name, std::uint64_t identity) {
  const auto host = static_cast<std::uint32_t>(graph_.hosts_.size());
  graph_.hosts_.push_back({std::move(name), identity, 0, 0, 0});
  system_of_.push_back(host);
  return host;
}

std::uint32_t Draft::RootOf(std::uint32_t host) {
  while (system_of_[host] != host) host = system_of_[host] = system_of_[system_of_[host]];
  return host;
}

void Draft::SameSystem(std::uint32_t host, std::uint32_t other) {
  const std::uint32_t a = RootOf(host), b = RootOf(other);
  system_of_[std::max(a, b)] = std::min(a, b);
}

NodeIndex Draft::Add(NodeKind kind, std::uint32_t host, std::uint32_t number, std::uint64_t id) {
  Node node;
  node.kind = kind;
  node.host = host;
  node.number = number;
  node.id = id;
  graph_.nodes_.push_back(std::move(node));
  removed_.push_back(false);
  return NodeIndex{node_count() - 1};
}

void Draft::Describe(NodeIndex node, GpuFacts facts) {
  at(node).facts = static_cast<std::uint32_t>(graph_.gpus_.size());
  graph_.gpus_.push_back(facts);
}

void Draft::Describe(NodeIndex node, DeviceFacts facts) {
  at(node).facts = static_cast<std::uint32_t>(graph_.devices_.size());
  graph_.devices_.push_back(std::move(facts));
}

void Draft::Describe(NodeIndex node, SwitchFacts facts) {
  at(node).facts = static_cast<std::uint32_t>(graph_.switches_.size());
  graph_.switches_.push_back(facts);
}

void Draft::Describe(NodeIndex node, const CpuModel& facts) {
  if (graph_.cpus_.empty() || graph_.cpus_.back() != facts) graph_.cpus_.push_back(facts);
  at(node).facts = static_cast<std::uint32_t>(graph_.cpus_.size() - 1);
}

void Draft::Describe(NodeIndex node, NetFacts facts) {
  at(node).facts = static_cast<std::uint32_t>(graph_.nets_.size());
  graph_.nets_.push_back(facts);
}

void Draft::AddLink(NodeIndex from, NodeIndex to, LinkKind kind, Bandwidth bandwidth) {
  std::vector<Link>& links = at(from).links;
  const auto known = std::find_if(links.begin(), links.end(), [&](const Link& link) {
    return link.to == to && link.kind == kind;
  });
  if (known == links.end()) return Insert(from, to, kind, bandwidth);
  known->bandwidth = Sum(known->bandwidth, bandwidth);
  SortUp(links, static_cast<std::size_t>(known - links.begin()));
}

void Draft::Join(NodeIndex a, NodeIndex b, LinkKind kind, Bandwidth bandwidth) {
  AddLink(a, b, kind, bandwidth);
  AddLink(b, a, kind, bandwidth);
}

void Draft::Append(NodeIndex a, NodeIndex b, LinkKind kind, Bandwidth bandwidth) {
  at(a).links.push_back({b, kind, bandwidth});
  at(b).links.push_back({a, kind, bandwidth});
}

void Draft::Insert(NodeIndex from, NodeIndex to, LinkKind kind, Bandwidth bandwidth) {
  std::vector<Link>& links = at(from).links;
  links.push_back({to, kind, bandwidth});
  SortUp(links, links.size() - 1);
}

void Draft::PutUpstreamLast() {
  struct DraftVisit {
    NodeIndex node, from;
  };
  std::vector<DraftVisit> open;
  const auto below = [&](NodeIndex node, NodeIndex from) {
    for (const Link& link : at(node).links)
      if (link.kind == LinkKind::kPci && link.to != from) open.push_back({link.to, node});
  };
  std::vector<bool> seen(node_count(), false);
  for (std::uint32_t i = 0; i < node_count(); ++i) {
    if (graph_.nodes_[i].kind != NodeKind::kCpu) continue;
    below(NodeIndex{i}, NodeIndex{i});
    while (!open.empty()) {
      const DraftVisit visit = open.back();
      open.pop_back();
      if (seen[Index(visit.node)]) continue;
      seen[Index(visit.node)] = true;
      std::vector<Link>& links = at(visit.node).links;
      const auto up = std::find_if(links.begin(), links.end(),
                                   [&](const Link& link) { return link.to == visit.from; });
      if (up != links.end()) std::rotate(up, up + 1, links.end());
      below(visit.node, visit.from);
    }
  }
}

/// Puts hosts of one system next to each other. Otherwise keeps their order.
std::vector<std::uint32_t> Draft::OrderHosts() {
  std::vector<std::uint32_t> order(system_of_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::uint32_t> root(order.size());
  for (const std::uint32_t host : order) root[host] = RootOf(host);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return root[a] < root[b]; });
  std::vector<HostNodes> hosts;
  graph_.systems_.clear();
  for (const std::uint32_t host : order) {
    const bool fresh = hosts.empty() || root[host] == host;
    if (fresh) graph_.systems_.push_back({static_cast<std::uint32_t>(hosts.size()), 0, 0, 0});
    hosts.push_back(std::move(graph_.hosts_[host]));
    hosts.back().system = static_cast<std::uint32_t>(graph_.systems_.size() - 1);
    graph_.systems_.back().end_host = static_cast<std::uint32_t>(hosts.size());
  }
  graph_.hosts_ = std::move(hosts);
  return order;
}

/// Orders the remaining nodes by host, kind and age. `position` receives the new place of each.
std::vector<NodeIndex> Draft::OrderNodes(const std::vector<std::uint32_t>& host_order,
                                         std::vector<std::uint32_t>& position) const {
  std::vector<std::uint32_t> host_at(host_order.size());
  for (std::uint32_t i = 0; i < host_order.size(); ++i) host_at[host_order[i]] = i;
  std::vector<NodeIndex> order;
  for (std::uint32_t i = 0; i < node_count(); ++i)
    if (!removed_[i]) order.push_back(NodeIndex{i});
  const auto key = [&](NodeIndex node) {
    const Node& one = graph_.nodes_[Index(node)];
    return std::pair(host_at[one.host], one.kind);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](NodeIndex a, NodeIndex b) { return key(a) < key(b); });
  position.assign(node_count(), kGone);
  for (std::uint32_t i = 0; i < order.size(); ++i) position[Index(order[i])] = i;
  return order;
}

void Draft::SetRanges() {
  for (HostNodes& host : graph_.hosts_) host.first = host.end = 0;
  for (std::uint32_t i = 0; i < graph_.nodes_.size(); ++i) {
    HostNodes& host = graph_.hosts_[graph_.nodes_[i].host];
    if (host.end == 0) host.first = i;
    host.end = i + 1;
  }
  for (SystemNodes& system : graph_.systems_) {
    system.first = graph_.hosts_[system.first_host].first;
    system.end = graph_.hosts_[system.end_host - 1].end;
  }
}

Graph Draft::Finish() && {
  const std::vector<std::uint32_t> host_order = OrderHosts();
  std::vector<std::uint32_t> host_at(host_order.size());
  for (std::uint32_t i = 0; i < host_order.size(); ++i) host_at[host_order[i]] = i;
  std::vector<std::uint32_t> position;
  const std::vector<NodeIndex> order = OrderNodes(host_order, position);
  std::vector<Node> nodes;
  graph_.ranks_.clear();
  for (const NodeIndex old : order) {
    Node& node = nodes.emplace_back(std::move(at(old)));
    node.host = host_at[node.host];
    std::erase_if(node.links, [&](const Link& link) { return position[Index(link.to)] == kGone; });
    for (Link& link : node.links) link.to = NodeIndex{position[Index(link.to)]};
    if (node.kind == NodeKind::kGpu) {
      NodeIndex& device = graph_.gpus_[node.facts].device;
      device = NodeIndex{position[Index(device)]};
    }
    if (node.kind == NodeKind::kGpu || node.kind == NodeKind::kRank)
      graph_.ranks_.emplace_back(Rank{node.number},
                                 NodeIndex{static_cast<std::uint32_t>(nodes.size() - 1)});
  }
  graph_.nodes_ = std::move(nodes);
  std::sort(graph_.ranks_.begin(), graph_.ranks_.end());
  SetRanges();
  return std::move(graph_);
}

}  // namespace ringlet::topology
