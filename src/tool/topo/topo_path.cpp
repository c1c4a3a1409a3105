#include "tool/topo/topo_path.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "os/process/env.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

using topology::Hop;
using topology::NodeIndex;
using topology::Path;
using topology::PathType;

std::string_view Meaning(PathType type) {
  switch (type) {
    case PathType::kLoc: return "the same device";
    case PathType::kNvl: return "NVLink";
    case PathType::kNvb: return "NVLink through another GPU";
    case PathType::kC2c: return "to the processor of the package";
    case PathType::kPix: return "at most one PCIe switch";
    case PathType::kPxb: return "several PCIe switches";
    case PathType::kP2c: return "through the package's processor, then PCIe";
    case PathType::kPxn: return "through the GPU near the NIC";
    case PathType::kPhb: return "through a processor";
    case PathType::kSys: return "from processor to processor";
    case PathType::kNet: return "only through the network";
    case PathType::kDis: break;
  }
  return "not joined";
}

struct PathEnds {
  PathRequest paths;
  std::string from, to;
  bool json = false;
};

int Run(const PathEnds& request) {
  const Result<PathView> view = FindPathView(request.paths, os::ReadEnvironment());
  if (!view.ok()) return Fail("topo path", view.error());
  for (const std::string& missing : view->missing) PrintNote("topo path", missing);
  const Result<NodeIndex> from = NodeCalled(*view->graph, request.from);
  if (!from.ok()) return Fail("topo path", from.error());
  const Result<NodeIndex> to = NodeCalled(*view->graph, request.to);
  if (!to.ok()) return Fail("topo path", to.error());
  fmt::print("{}",
             request.json ? PathJson(view->paths, *from, *to) : PathText(view->paths, *from, *to));
  return kExitDone;
}

}  // namespace

std::string PathText(const topology::Paths& paths, NodeIndex from, NodeIndex to) {
  const topology::Graph& graph = paths.graph();
  const Path path = paths.From(from, to);
  std::string text = fmt::format("{} to {}: {} ({})", LabelOf(graph, from), LabelOf(graph, to),
                                 NameOf(path.type), Meaning(path.type));
  if (path.type == PathType::kDis) return text + "\n";
  text += fmt::format(", {} GB/s, {}\n", GigabytesText(path.bandwidth), Counted(path.hops, "hop"));
  const std::vector<Hop> route = paths.Route(from, to);
  std::size_t width = 0;
  for (const Hop& hop : route) width = std::max(width, LabelOf(graph, hop.to).size());
  for (std::size_t i = 0; i < route.size(); ++i) {
    const Hop& hop = route[i];
    text += fmt::format("  {:>2}  {}  {:<{}}  {:>6} GB/s{}\n", i + 1, NameOf(hop.kind),
                        LabelOf(graph, hop.to), width, GigabytesText(hop.bandwidth),
                        hop.bandwidth == path.bandwidth ? "  narrowest" : "");
  }
  return text;
}

std::string PathJson(const topology::Paths& paths, NodeIndex from, NodeIndex to) {
  const topology::Graph& graph = paths.graph();
  const Path path = paths.From(from, to);
  nlohmann::ordered_json json{{"from", LabelOf(graph, from)},
                              {"to", LabelOf(graph, to)},
                              {"type", NameOf(path.type)},
                              {"meaning", Meaning(path.type)}};
  if (path.type == PathType::kDis) return JsonText(json);
  json["mb_per_s"] = path.bandwidth.mb_per_s;
  json["links"] = nlohmann::ordered_json::array();
  for (const Hop& hop : paths.Route(from, to))
    json["links"].push_back({{"kind", NameOf(hop.kind)},
                             {"to", LabelOf(graph, hop.to)},
                             {"mb_per_s", hop.bandwidth.mb_per_s}});
  return JsonText(json);
}

void AddTopoPath(CLI::App& topo, Action& chosen) {
  CLI::App* path = topo.add_subcommand("path", "Show the path between two parts, hop by hop");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<PathEnds>();
  path->add_option("FROM", request->from, "GPU0, 0000:11:00.0, mlx5_0, NUMA0, ...")
      ->type_name(kPartType)
      ->required();
  path->add_option("TO", request->to, "Likewise")->type_name(kPartType)->required();
  AddPathRequest(*path, request->paths);
  path->add_flag("--json", request->json,
                 "One object: from, to, type, meaning, mb_per_s, links (kind, to, mb_per_s)");
  path->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
