#include "topo/paths/labels.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kNameBytesShown = 60;

std::string LabelOnHost(const Node& node) {
  if (node.kind == NodeKind::kCpu)
    return node.number == kUnknownNuma ? "NUMA-1" : fmt::format("NUMA{}", node.number);
  if (IsPort(node.kind) && !node.name.empty()) return Printable(node.name, kNameBytesShown);
  if (node.kind == NodeKind::kPci || node.kind == NodeKind::kDev || node.kind == NodeKind::kCxb)
    return fmt::format("{}({})", NameOf(node.kind), ToString(BusId{node.id}));
  if (node.kind == NodeKind::kNic) return fmt::format("NIC({:x})", node.id);
  return fmt::format("{}{}", NameOf(node.kind), node.number);
}

/// Returns true if the typed name means this node.
bool IsCalled(const Graph& graph, NodeIndex index, std::string_view name) {
  const Node& node = graph.at(index);
  if (EqualIgnoringCase(name, LabelOf(graph, index)) ||
      EqualIgnoringCase(name, LabelOnHost(node)) || EqualIgnoringCase(name, NcclName(graph, index)))
    return true;
  const auto bus = BusId::Parse(name);
  if (!bus.ok()) return false;
  if (node.kind == NodeKind::kGpu) return graph.device(graph.gpu(index).device).bus == *bus;
  return (node.kind == NodeKind::kNic || node.kind == NodeKind::kPci) && node.id == bus->value;
}

/// Returns the first port of a NIC, because paths end at ports and GPUs.
NodeIndex EndOf(const Graph& graph, NodeIndex node) {
  if (graph.at(node).kind != NodeKind::kNic) return node;
  for (const Link& link : graph.at(node).links)
    if (graph.at(link.to).kind == NodeKind::kNet) return link.to;
  return node;
}

}  // namespace

std::string LabelOf(const Graph& graph, NodeIndex node) {
  const std::string label = LabelOnHost(graph.at(node));
  if (graph.hosts().size() == 1 || graph.at(node).kind == NodeKind::kNvs ||
      graph.at(node).kind == NodeKind::kGpu)
    return label;
  return fmt::format("{}/{}", Printable(graph.hosts()[graph.at(node).host].name, kNameBytesShown),
                     label);
}

Result<NodeIndex> NodeCalled(const Graph& graph, std::string_view name) {
  std::vector<NodeIndex> found;
  std::string there_are;
  std::size_t listed = 0;
  constexpr std::size_t kListedMax = 40;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const NodeIndex node{i};
    const NodeKind kind = graph.at(node).kind;
    if (kind == NodeKind::kDev || kind == NodeKind::kCxb) continue;
    if (IsCalled(graph, node, name)) found.push_back(node);
    if (kind != NodeKind::kPci && kind != NodeKind::kNic && listed++ < kListedMax)
      there_are += (there_are.empty() ? "" : ", ") + LabelOf(graph, node);
  }
  if (found.size() == 1) return EndOf(graph, found.front());
  if (found.empty())
    return Error{Code::kInvalidArgument,
                 fmt::format("no part is called {}; the parts are {}{}",
                             Quoted(Printable(name, kNameBytesShown)), there_are,
                             listed > kListedMax ? ", and more" : "")};
  return Error{Code::kInvalidArgument,
               fmt::format("several parts are called {}: {} and {}; name one with its host",
                           Quoted(Printable(name, kNameBytesShown)), LabelOf(graph, found[0]),
                           LabelOf(graph, found[1]))};
}

}  // namespace ringlet::topology
