#include "frontends/cli/topo/topo_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "frontends/cli/plural.hpp"
#include "os/fs/conf_files.hpp"

namespace ringlet::cli {

using topology::Graph;
using topology::Node;
using topology::NodeIndex;
using topology::NodeKind;

namespace {

constexpr std::size_t kNameBytesShown = 60;

std::string ShortLabel(const Node& node) {
  if (node.kind == NodeKind::kCpu)
    return node.number == topology::kUnknownNuma ? "NUMA-1" : fmt::format("NUMA{}", node.number);
  if (topology::IsPort(node.kind) && !node.name.empty())
    return Printable(node.name, kNameBytesShown);
  if (node.kind == NodeKind::kPci || node.kind == NodeKind::kDev || node.kind == NodeKind::kCxb)
    return fmt::format("{}({})", NameOf(node.kind), ToString(topology::BusId{node.id}));
  if (node.kind == NodeKind::kNic) return fmt::format("NIC({:x})", node.id);
  return fmt::format("{}{}", NameOf(node.kind), node.number);
}

/// Whether a name that a user typed means this node.
bool IsCalled(const Graph& graph, NodeIndex index, std::string_view name) {
  const Node& node = graph.at(index);
  if (EqualIgnoringCase(name, LabelOf(graph, index)) || EqualIgnoringCase(name, ShortLabel(node)) ||
      EqualIgnoringCase(name, NcclName(graph, index)))
    return true;
  const auto bus = topology::BusId::Parse(name);
  if (!bus.ok()) return false;
  if (node.kind == NodeKind::kGpu) return graph.device(graph.gpu(index).device).bus == *bus;
  return (node.kind == NodeKind::kNic || node.kind == NodeKind::kPci) && node.id == bus->value;
}

/// Paths end at ports and GPUs, so that a NIC means its first port.
NodeIndex EndOf(const Graph& graph, NodeIndex node) {
  if (graph.at(node).kind != NodeKind::kNic) return node;
  for (const topology::Link& link : graph.at(node).links)
    if (graph.at(link.to).kind == NodeKind::kNet) return link.to;
  return node;
}

}  // namespace

void AddPathRequest(CLI::App& command, PathRequest& request) {
  AddTopoSource(command, request.source);
  command.add_flag("--as-wired", request.as_wired,
                   "The best paths there are, whatever transports may use");
  command.add_flag("--as-nccl", request.as_nccl, "NCCL 2.30's rules, faults included");
  command.add_flag("--no-peer-access", request.apart,
                   "As if the driver kept GPUs apart, as GeForce's does");
}

Result<PathView> FindPathView(const PathRequest& request, const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(environment));
  RINGLET_TRY_ASSIGN(topology::PathOptions options, topology::ReadPathOptions(settings));
  options.as_wired = request.as_wired;
  if (request.apart) options.peer_access = [](Rank, Rank) { return false; };
  RINGLET_TRY_ASSIGN(LoadedTopology loaded, LoadTopology(request.source));
  const topology::BuildOptions build{
      .rules = request.as_nccl ? topology::Rules::kNccl : topology::Rules::kRinglet,
      .gpus = topology::GpuRanks::kAll,
      .unknown_net = false};
  PathView view;
  view.title = std::move(loaded.title);
  view.missing = std::move(loaded.missing);
  if (std::string hint = SkeletonHint(loaded.view); !hint.empty())
    view.missing.push_back(std::move(hint));
  RINGLET_TRY_ASSIGN(Graph graph, topology::Build({&loaded.view, 1}, {}, build));
  view.graph = std::make_unique<Graph>(std::move(graph));
  RINGLET_TRY_ASSIGN(view.paths, topology::FindPaths(*view.graph, 0, options));
  return view;
}

std::string LabelOf(const Graph& graph, NodeIndex node) {
  const std::string label = ShortLabel(graph.at(node));
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
                 fmt::format("nothing is called {}; there are {}{}",
                             Quoted(Printable(name, kNameBytesShown)), there_are,
                             listed > kListedMax ? ", and more" : "")};
  return Error{Code::kInvalidArgument,
               fmt::format("several things are called {}: {} and {}; name one with its host",
                           Quoted(Printable(name, kNameBytesShown)), LabelOf(graph, found[0]),
                           LabelOf(graph, found[1]))};
}

std::string SkeletonHint(const topology::HostView& view) {
  const auto gpus = std::count_if(view.pci.begin(), view.pci.end(), [](const auto& device) {
    return device.device_class && device.device_class->role() == topology::PciRole::kGpu;
  });
  if (gpus == 0 || !view.gpus.empty()) return "";
  return fmt::format(
      "left out: {} with a PCI function and nothing else; ringlet topo complete fills them in",
      Counted(static_cast<std::uint64_t>(gpus), "GPU"));
}

std::string ArchitectureText(std::string_view gcn, std::uint32_t compute_capability) {
  if (!gcn.empty()) return Printable(gcn, kNameBytesShown);
  return compute_capability == 0 ? "" : fmt::format("sm {}", compute_capability);
}

std::string GigabytesText(topology::Bandwidth bandwidth) {
  constexpr std::uint32_t kMb = 1000;
  const std::uint32_t tenths = (bandwidth.mb_per_s + kMb / 20) / (kMb / 10);
  if (tenths == 0) return fmt::format("{:.3f}", static_cast<double>(bandwidth.mb_per_s) / kMb);
  return tenths % 10 == 0 ? fmt::format("{}", tenths / 10)
                          : fmt::format("{}.{}", tenths / 10, tenths % 10);
}

}  // namespace ringlet::cli
