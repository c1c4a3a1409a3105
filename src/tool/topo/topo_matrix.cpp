#include "tool/topo/topo_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "os/process/env.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/terminal.hpp"
#include "topology/paths/locality.hpp"

namespace ringlet::cli {
namespace {

using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;
using topology::Path;
using topology::PathType;

using Rows = std::vector<std::vector<std::string>>;

enum class Align { kLeft, kRight };

/// Aligns the first column to the left and the others as requested, with two blanks between them.
std::string Aligned(const Rows& rows, Align align) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? "" : "  ";
      line += i == 0 || align == Align::kLeft ? fmt::format("{:<{}}", row[i], widths[i])
                                              : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// Returns the ports, sorted by host and number.
std::vector<NodeIndex> PortsOf(const PathView& view) {
  std::vector<NodeIndex> nets = view.paths.Of(NodeKind::kNet);
  std::sort(nets.begin(), nets.end(), [&](NodeIndex a, NodeIndex b) {
    const topology::Node& one = view.graph->at(a);
    const topology::Node& other = view.graph->at(b);
    return std::pair(one.host, one.number) < std::pair(other.host, other.number);
  });
  return nets;
}

std::vector<NodeIndex> NodesOf(const PathView& view, bool with_numa) {
  std::vector<NodeIndex> nodes = view.paths.Of(NodeKind::kGpu);
  std::sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
    return view.graph->at(a).number < view.graph->at(b).number;
  });
  const std::vector<NodeIndex> nets = PortsOf(view);
  nodes.insert(nodes.end(), nets.begin(), nets.end());
  if (with_numa || view.paths.Of(NodeKind::kGpu).empty()) {
    const std::vector<NodeIndex>& numas = view.paths.Of(NodeKind::kCpu);
    nodes.insert(nodes.end(), numas.begin(), numas.end());
  }
  return nodes;
}

/// Returns a short name for the head of a column: "GPU3", "NIC0", "NUMA1".
std::string Head(const PathView& view, NodeIndex node) {
  const std::vector<NodeIndex> nets = PortsOf(view);
  const auto net = std::find(nets.begin(), nets.end(), node);
  return net == nets.end() ? LabelOf(*view.graph, node) : fmt::format("NIC{}", net - nets.begin());
}

std::optional<NodeIndex> NumaOf(const PathView& view, NodeIndex node) {
  const std::vector<NodeIndex> near = topology::NearestOf(view.paths, node, NodeKind::kCpu);
  std::optional<NodeIndex> numa;
  for (const NodeIndex cpu : near)
    if (!numa || view.paths.From(node, cpu).hops < view.paths.From(node, *numa).hops) numa = cpu;
  return numa;
}

std::string NumaText(const PathView& view, NodeIndex node) {
  const std::optional<NodeIndex> numa = NumaOf(view, node);
  return numa ? LabelOf(*view.graph, *numa) : "-";
}

std::string Cell(const Path& path) {
  if (path.type == PathType::kDis) return "-";
  return fmt::format("{} {}", NameOf(path.type), GigabytesText(path.bandwidth));
}

std::string Legend(const PathView& view, const std::vector<NodeIndex>& nodes) {
  const Graph& graph = *view.graph;
  Rows rows;
  for (const NodeIndex node : nodes) {
    const NodeKind kind = graph.at(node).kind;
    if (kind == NodeKind::kCpu) continue;
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(Head(view, node));
    if (kind == NodeKind::kGpu) {
      const topology::DeviceFacts& device = graph.device(graph.gpu(node).device);
      row.push_back(ToString(device.bus));
      row.push_back(ArchitectureText(device.gcn, device.compute_capability));
    } else {
      row.push_back(LabelOf(graph, node));
      row.push_back(
          fmt::format("{} Gbit/s", graph.at(node).links.front().bandwidth.mb_per_s * 8 / 1000));
    }
    row.push_back(NumaText(view, node));
  }
  return Aligned(rows, Align::kLeft);
}

/// Returns nvidia-smi's name of a path. nvidia-smi separates PHB (one host bridge) and NODE
/// (several in a NUMA node), which are equal here, because a view does not have host bridges.
std::string SmiWord(const PathView& view, NodeIndex from, const Path& path) {
  switch (path.type) {
    case PathType::kNvl: {
      const Graph& graph = *view.graph;
      const NodeIndex device = graph.gpu(from).device;
      const auto one = topology::NvLink(graph.device(device).compute_capability);
      return fmt::format("NV{}", path.bandwidth.mb_per_s / one.mb_per_s);
    }
    case PathType::kPix: return "PIX";
    case PathType::kPxb: return "PXB";
    case PathType::kSys: return "SYS";
    case PathType::kDis: return "-";
    case PathType::kLoc:
    case PathType::kNvb:
    case PathType::kC2c:
    case PathType::kP2c:
    case PathType::kPxn:
    case PathType::kPhb:
    case PathType::kNet: break;
  }
  return "NODE";
}

struct MatrixRequest {
  PathRequest paths;
  bool with_numa = false;
  bool as_smi = false;
  bool as_json = false;
};

int Run(MatrixRequest request) {
  EnvMap environment = os::ReadEnvironment();
  if (request.as_smi) {
    request.paths.as_wired = true;
    environment["NCCL_NVB_DISABLE"] = "1";
  }
  const Result<PathView> view = FindPathView(request.paths, environment);
  if (!view.ok()) return Fail("topo matrix", view.error());
  for (const std::string& missing : view->missing) PrintNote("topo matrix", missing);
  if (request.as_json)
    fmt::print("{}", MatrixJson(*view, request.with_numa));
  else if (request.as_smi)
    fmt::print("{}", SmiText(*view));
  else
    PrintFitted(MatrixText(*view, request.with_numa));
  return kExitDone;
}

}  // namespace

std::string MatrixText(const PathView& view, bool with_numa) {
  const std::vector<NodeIndex> nodes = NodesOf(view, with_numa);
  Rows rows(1, std::vector<std::string>(1));
  for (const NodeIndex node : nodes) rows[0].push_back(Head(view, node));
  for (const NodeIndex from : nodes) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(Head(view, from));
    for (const NodeIndex to : nodes)
      row.push_back(from == to ? "X" : Cell(view.paths.From(from, to)));
  }
  const std::string legend = Legend(view, nodes);
  return Aligned(rows, Align::kRight) + (legend.empty() ? "" : "\n" + legend) +
         "\nFrom row to column: type of path, GB/s. LOC same device, NVL NVLink, NVB through "
         "another "
         "GPU,\nC2C processor of the package, PIX one PCIe switch, PXB several, P2C C2C and then "
         "PCIe,\nPXN through the GPU near the NIC, PHB through a processor, SYS between "
         "processors, "
         "NET network.\n";
}

std::string SmiText(const PathView& view) {
  const std::vector<NodeIndex> nodes = NodesOf(view, false);
  std::string text;
  for (const NodeIndex node : nodes) text += "\t" + Head(view, node);
  text += "\tNUMA Affinity\n";
  for (const NodeIndex from : nodes) {
    text += Head(view, from);
    for (const NodeIndex to : nodes)
      text += "\t" + (from == to ? " X " : SmiWord(view, from, view.paths.From(from, to)));
    const std::optional<NodeIndex> numa = NumaOf(view, from);
    const std::uint32_t id = numa ? view.graph->at(*numa).number : topology::kUnknownNuma;
    text += id == topology::kUnknownNuma ? "\tN/A\n" : fmt::format("\t{}\n", id);
  }
  return text;
}

std::string MatrixJson(const PathView& view, bool with_numa) {
  using Json = nlohmann::ordered_json;
  const Graph& graph = *view.graph;
  const std::vector<NodeIndex> nodes = NodesOf(view, with_numa);
  Json listed = Json::array(), paths = Json::array();
  for (const NodeIndex node : nodes) {
    const topology::Node& one = graph.at(node);
    Json entry = {{"name", LabelOf(graph, node)},
                  {"nccl", NcclName(graph, node)},
                  {"kind", std::string(NameOf(one.kind))},
                  {"host", graph.hosts()[one.host].name}};
    if (one.kind == NodeKind::kGpu) {
      entry["rank"] = one.number;
      const topology::DeviceFacts& device = graph.device(graph.gpu(node).device);
      entry["bus"] = ToString(device.bus);
      entry["architecture"] = ArchitectureText(device.gcn, device.compute_capability);
    }
    const auto numa = NumaOf(view, node);
    if (numa && graph.at(*numa).number != topology::kUnknownNuma)
      entry["numa"] = graph.at(*numa).number;
    listed.push_back(std::move(entry));
  }
  for (std::size_t from = 0; from < nodes.size(); ++from) {
    for (std::size_t to = 0; to < nodes.size(); ++to) {
      const Path path = view.paths.From(nodes[from], nodes[to]);
      paths.push_back(
          {from, to, std::string(NameOf(path.type)), path.bandwidth.mb_per_s, path.hops});
    }
  }
  return JsonText({{"nodes", std::move(listed)}, {"paths", std::move(paths)}}, JsonLayout::kLine);
}

void AddTopoMatrix(CLI::App& topo, Action& chosen) {
  CLI::App* matrix = topo.add_subcommand(
      "matrix", "Show type and bandwidth of the paths between all GPUs and NICs");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<MatrixRequest>();
  AddPathRequest(*matrix, request->paths);
  matrix->add_flag("--numa", request->with_numa, "Include NUMA nodes");
  auto* json = matrix->add_flag(
      "--json", request->as_json,
      "One object: nodes, paths ([from, to, type, MB/s, hops]; from and to are positions)");
  matrix->add_flag("--nvidia-smi", request->as_smi, "Print the format of nvidia-smi topo -m")
      ->excludes(json);
  matrix->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
