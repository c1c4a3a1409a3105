#include "tool/plan/plan_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

using plan::BoundingLink;
using topology::Graph;
using topology::LinkKind;
using topology::NodeIndex;
using topology::NodeKind;

constexpr std::size_t kNamesShownMax = 4;
constexpr std::size_t kGroupsShownMax = 3;
constexpr std::uint32_t kPerMilleShownMin = 10;

/// Returns the label of a node. A GPU's device has the label of its rank node, which paths provide.
std::string EndName(const NodeView& node, NodeIndex end) {
  const Graph& graph = *node.graph;
  if (graph.at(end).kind == NodeKind::kDev) {
    for (const NodeIndex gpu : node.paths.Of(NodeKind::kGpu))
      if (graph.gpu(gpu).device == end) return LabelOf(graph, gpu);
  }
  return LabelOf(graph, end);
}

/// Returns the address of the lower end of a link.
std::uint64_t BusOf(const Graph& graph, const BoundingLink& link) {
  // The last link of a node leads towards the processor. This identifies the lower of two switches.
  const auto is_above = [&](NodeIndex from, NodeIndex to) {
    const auto& links = graph.at(from).links;
    return graph.at(to).kind == NodeKind::kCpu || (!links.empty() && links.back().to == to);
  };
  for (const NodeKind kind : {NodeKind::kDev, NodeKind::kNic, NodeKind::kPci}) {
    for (const auto& [low, high] : {std::pair(link.from, link.to), std::pair(link.to, link.from)}) {
      if (graph.at(low).kind != kind) continue;
      if (kind == NodeKind::kDev) return graph.device(low).bus.value;
      if (kind == NodeKind::kNic) return graph.at(low).id;
      if (is_above(low, high)) return graph.pci_switch(low).bus.value;
    }
  }
  return 0;
}

std::string PairName(const NodeView& node, const BoundingLink& link) {
  if (link.is_port) return EndName(node, link.from);
  const NodeIndex low = std::min(link.from, link.to), high = std::max(link.from, link.to);
  const bool devices_first =
      node.graph->at(high).kind == NodeKind::kDev && node.graph->at(low).kind != NodeKind::kDev;
  const std::string first = EndName(node, devices_first ? high : low);
  return first + " - " + EndName(node, devices_first ? low : high);
}

bool IsOfGroup(const NodeView& node, const LimitGroup& group, const BoundingLink& of_group,
               const BoundingLink& link) {
  const auto kinds = [&](const BoundingLink& one) {
    const NodeKind a = node.graph->at(one.from).kind, b = node.graph->at(one.to).kind;
    return std::pair(std::min(a, b), std::max(a, b));
  };
  return group.kind == link.kind && group.is_port == link.is_port &&
         group.bandwidth == link.bandwidth && kinds(of_group) == kinds(link);
}

bool IsAmd(const Graph& graph, NodeIndex end) {
  return graph.at(end).kind == NodeKind::kDev && !graph.device(end).gcn.empty();
}

std::string KindText(const LimitGroup& group) {
  if (group.is_port) return "NIC";
  switch (group.kind) {
    case LinkKind::kNvLink: return group.is_amd ? "xGMI connection" : "NVLink connection";
    case LinkKind::kC2c: return "C2C link";
    case LinkKind::kPci: return "PCIe link";
    case LinkKind::kSocket: return "link between NUMA nodes";
    case LinkKind::kNetwork: return "link of a NIC";
    case LinkKind::kMemory: return "link to memory";
    case LinkKind::kLocal: return "link within a device";
  }
  return "link";
}

}  // namespace

std::vector<LimitGroup> LimitGroupsOf(const PlanView& view, std::size_t number, plan::GraphId id) {
  const NodeView& node = view.nodes[number];
  const plan::BoundingLinks found =
      plan::FindBoundingLinks(node.paths, view.search, view.classes[number].plan.of(id));
  std::vector<LimitGroup> groups;
  std::vector<BoundingLink> firsts;
  for (BoundingLink link : found.list) {
    // Merges a port with the link to its device.
    if (link.kind == LinkKind::kNetwork && !link.is_port) {
      if (!topology::IsPort(node.graph->at(link.from).kind)) link.from = link.to;
      link.to = link.from;
      link.is_port = true;
    }
    std::size_t at = 0;
    while (at < groups.size() && !IsOfGroup(node, groups[at], firsts[at], link)) ++at;
    // A link without a price joins a group of priced links but does not start one.
    if (at == groups.size() && found.by_prices && link.per_mille == 0) continue;
    if (at == groups.size()) {
      groups.push_back({.kind = link.kind,
                        .is_port = link.is_port,
                        .is_amd = IsAmd(*node.graph, link.from),
                        .bandwidth = link.bandwidth});
      firsts.push_back(link);
    }
    LimitGroup& group = groups[at];
    group.per_mille += link.per_mille;
    std::string name = PairName(node, link);
    // the opposite direction
    if (std::ranges::find(group.names, name) != group.names.end()) continue;
    group.names.push_back(std::move(name));
    if (link.kind == LinkKind::kPci) group.bus.push_back(BusOf(*node.graph, link));
  }
  std::ranges::stable_sort(groups, std::ranges::greater(), &LimitGroup::per_mille);
  return groups;
}

std::string ToText(const LimitGroup& group) {
  const std::string kind = KindText(group);
  const std::string many = kind.starts_with("link ") ? "links" + kind.substr(4) : kind + "s";
  std::string text = fmt::format("{} of {} GB/s", Counted(group.names.size(), kind, many),
                                 GigabytesText(group.bandwidth));
  const std::size_t shown = group.names.size() > kNamesShownMax ? 2 : group.names.size();
  for (std::size_t i = 0; i < shown; ++i) text += ", " + group.names[i];
  if (shown < group.names.size()) text += fmt::format(" and {} more", group.names.size() - shown);
  if (group.per_mille > 0) text += fmt::format(" ({} %)", (group.per_mille + 5) / 10);
  return text;
}

std::string LimitedByText(const std::vector<LimitGroup>& groups) {
  if (groups.empty()) return "limited by: no limiting link found";
  std::string text;
  for (std::size_t i = 0; i < groups.size() && i < kGroupsShownMax; ++i)
    if (i == 0 || groups[i].per_mille >= kPerMilleShownMin)
      text += (text.empty() ? "limited by: " : "; ") + ToText(groups[i]);
  return text;
}

nlohmann::ordered_json LimitsJson(const std::vector<LimitGroup>& groups) {
  auto list = nlohmann::ordered_json::array();
  for (const LimitGroup& group : groups)
    list.push_back(
        {{"links", KindText(group)},
         {"gb_s", group.bandwidth.mb_per_s / 1000.0},
         {"names", group.names},
         {"share", group.per_mille == 0 ? nlohmann::ordered_json()
                                        : nlohmann::ordered_json(group.per_mille / 1000.0)}});
  return list;
}

}  // namespace ringlet::cli
