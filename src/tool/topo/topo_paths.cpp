#include "tool/topo/topo_paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/value/text.hpp"
#include "os/fs/conf_files.hpp"
#include "tool/text/plural.hpp"
#include "topology/paths/known_drivers.hpp"

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

/// Returns true if the typed name means this node.
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

/// Returns the first port of a NIC, because paths end at ports and GPUs.
NodeIndex EndOf(const Graph& graph, NodeIndex node) {
  if (graph.at(node).kind != NodeKind::kNic) return node;
  for (const topology::Link& link : graph.at(node).links)
    if (graph.at(link.to).kind == NodeKind::kNet) return link.to;
  return node;
}

/// Clears the file's ranks if one is repeated, as NCCL overwrites them, and returns true.
bool DropRepeatedRanks(topology::HostView& view) {
  std::set<std::uint32_t> ranks;
  const bool repeat = std::ranges::any_of(view.gpus, [&](const topology::Gpu& gpu) {
    return gpu.rank && !ranks.insert(*gpu.rank).second;
  });
  if (repeat)
    for (topology::Gpu& gpu : view.gpus) gpu.rank.reset();
  return repeat;
}

}  // namespace

void AddPathRequest(CLI::App& command, PathRequest& request) {
  AddTopoSource(command, request.source);
  command.add_flag("--as-wired", request.as_wired,
                   "Use the best paths, even if transports may not use them");
  command.add_flag("--as-nccl", request.as_nccl,
                   "Use the rules of NCCL 2.30, including its faults");
  command.add_flag("--no-peer-access", request.apart,
                   "Assume a driver that denies access between GPUs, as for GeForce");
}

Result<PathView> FindPathView(const PathRequest& request, const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(environment));
  PathView view;
  RINGLET_TRY_ASSIGN(view.options, topology::ReadPathOptions(settings));
  view.options.as_wired = request.as_wired;
  RINGLET_TRY_ASSIGN(LoadedTopology loaded, LoadPlanned(request.source, settings, request.edit));
  const topology::BuildOptions build{
      .rules = request.as_nccl ? topology::Rules::kNccl : topology::Rules::kRinglet,
      .gpus = topology::GpuRanks::kAll,
      .unknown_net = false};
  view.title = std::move(loaded.title);
  view.missing = std::move(loaded.missing);
  if (!settings.plan_variables_unused.empty())
    view.missing.push_back(fmt::format("ignored here, although NCCL's plans depend on it: {}",
                                       fmt::join(settings.plan_variables_unused, ", ")));
  if (request.as_nccl && DropRepeatedRanks(loaded.view))
    view.missing.emplace_back(
        "duplicate rank: the GPUs are renumbered in their order, as NCCL does");
  RINGLET_TRY_ASSIGN(Graph graph, topology::Build({&loaded.view, 1}, {}, build));
  view.graph = std::make_unique<Graph>(std::move(graph));
  view.options.peer_access = request.apart
                                 ? [](Rank, Rank) { return false; }
                                 : topology::KnownPeerAccess({&loaded.view, 1}, *view.graph);
  if (view.options.peer_access && !request.apart && view.options.ignore_disabled_p2p != 2)
    view.missing.emplace_back(
        "the driver allows GeForce cards to access each other over NVLink only; to ignore that: "
        "NCCL_IGNORE_DISABLED_P2P=2");
  RINGLET_TRY_ASSIGN(view.paths, topology::FindPaths(*view.graph, 0, view.options));
  view.machine = std::move(loaded.view);
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
                 fmt::format("no part is called {}; the parts are {}{}",
                             Quoted(Printable(name, kNameBytesShown)), there_are,
                             listed > kListedMax ? ", and more" : "")};
  return Error{Code::kInvalidArgument,
               fmt::format("several parts are called {}: {} and {}; name one with its host",
                           Quoted(Printable(name, kNameBytesShown)), LabelOf(graph, found[0]),
                           LabelOf(graph, found[1]))};
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
