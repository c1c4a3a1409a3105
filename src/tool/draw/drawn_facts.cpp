#include "tool/draw/drawn_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/value/text.hpp"

namespace ringlet::cli {
namespace {

using topology::Defect;
using topology::Graph;
using topology::HostView;
using topology::NetInterface;
using topology::NodeIndex;
using topology::NodeKind;
using topology::Part;
using topology::PartKind;
using topology::PciDevice;

constexpr std::size_t kFactBytesShown = 200;

/// Finds the nodes of a graph by addresses and names in a view.
class NodesByPart {
 public:
  NodesByPart(const Graph& graph, const HostView& view) : graph_(graph), view_(view) {
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      const NodeIndex node{i};
      const topology::Node& one = graph.at(node);
      const std::uint64_t host = graph.hosts()[one.host].identity;
      if (one.kind == NodeKind::kDev)
        by_bus_.try_emplace({host, graph.device(node).bus.value}, node);
      if (one.kind == NodeKind::kPci || one.kind == NodeKind::kNic)
        by_bus_.try_emplace({host, one.id}, node);
      if (topology::IsPort(one.kind)) by_port_.try_emplace({host, one.name}, BoxOf(node));
    }
  }

  std::optional<NodeIndex> Of(Part part) const {
    const auto numa = view_.NumaIndexOf(part);
    const std::uint64_t host = numa ? view_.HostOf(view_.numa_nodes[*numa]) : view_.identity;
    switch (part.kind) {
      case PartKind::kPci:
      case PartKind::kPciLink: return At(by_bus_, {host, view_.pci[part.index].bus.value});
      case PartKind::kGpu:
      case PartKind::kGpuLink:
      case PartKind::kC2c:
        return At(by_bus_, {host, view_.pci[view_.gpus[part.index].pci].bus.value});
      case PartKind::kNic: {
        const Part parent = view_.nics[part.index].parent;
        return parent.kind == PartKind::kPci ? Of(parent) : std::nullopt;
      }
      case PartKind::kNet: return At(by_port_, {host, view_.nets[part.index].name});
      case PartKind::kSystem:
      case PartKind::kNuma: break;
    }
    return std::nullopt;
  }

 private:
  template <typename Key>
  static std::optional<NodeIndex> At(const std::map<Key, NodeIndex>& nodes, const Key& key) {
    const auto found = nodes.find(key);
    return found == nodes.end() ? std::nullopt : std::optional(found->second);
  }

  /// Returns the NIC of a port, because a port is drawn in the box of its NIC.
  NodeIndex BoxOf(NodeIndex port) const {
    for (const topology::Link& link : graph_.at(port).links)
      if (graph_.at(link.to).kind == NodeKind::kNic) return link.to;
    return port;
  }

  const Graph& graph_;
  const HostView& view_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, NodeIndex> by_bus_;  // by host and address
  std::map<std::pair<std::uint64_t, std::string>, NodeIndex> by_port_;   // by host and name
};

std::string PcieText(const PciDevice& device) {
  std::string text;
  if (device.link_speed.generation != 0) text = fmt::format("gen{}", device.link_speed.generation);
  if (device.link_width != 0)
    text += fmt::format("{}x{}", text.empty() ? "" : " ", device.link_width);
  return text;
}

void AddPort(NodeFacts& facts, const NetInterface& port) {
  const std::string name = Printable(port.name, kFactBytesShown);
  if (!port.members.empty()) {
    facts.state = fmt::format("bond of {}", port.members.size());
    facts.sentences.push_back(
        fmt::format("{} is a bond of {}", name,
                    Printable(fmt::format("{}", fmt::join(port.members, ", ")), kFactBytesShown)));
  }
  if (port.speed_mbit_per_s.value_or(0) == 0) {
    facts.rate_is_unknown = true;
    facts.sentences.push_back(fmt::format("{}: unknown rate, as for a port that is down", name));
  }
  if (port.gdr && !*port.gdr) facts.sentences.push_back(fmt::format("{}: no GPUDirect RDMA", name));
}

void AddDefect(NodeFacts& facts, const Defect& defect) {
  if (!facts.severity || *facts.severity < defect.severity) {
    facts.severity = defect.severity;
    const std::string_view rule = defect.rule->word;
    facts.link_is_worst = rule.ends_with("-pcie") || rule.starts_with("link-") ||
                          rule == "narrow-link" || rule == "gpu-below-model";
  }
  facts.sentences.push_back(fmt::format("{}: {}", topology::SeverityName(defect.severity),
                                        Printable(defect.reason, kFactBytesShown)));
}

}  // namespace

DrawnFacts FactsOf(const Graph& graph, const HostView& view, std::span<const Defect> defects) {
  const NodesByPart nodes(graph, view);
  DrawnFacts facts;
  for (std::uint32_t i = 0; i < view.pci.size(); ++i)
    if (const auto node = nodes.Of({PartKind::kPci, i})) facts[*node].pcie = PcieText(view.pci[i]);
  for (std::uint32_t i = 0; i < view.nets.size(); ++i)
    if (const auto node = nodes.Of({PartKind::kNet, i})) AddPort(facts[*node], view.nets[i]);
  for (const Defect& defect : defects)
    if (const auto node = nodes.Of(defect.part)) AddDefect(facts[*node], defect);
  return facts;
}

}  // namespace ringlet::cli
