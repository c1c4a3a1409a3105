#include "tool/explain/explain_json.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "tool/plan/plan_report.hpp"
#include "tool/text/json_text.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;
using topology::NodeIndex;
using topology::NodeKind;

/// Counts the paths between nodes of two kinds, by type and bandwidth.
Json PathCounts(const topology::Paths& paths, NodeKind from, NodeKind to) {
  std::map<std::pair<topology::PathType, topology::Bandwidth>, std::size_t> counts;
  for (const NodeIndex a : paths.Of(from))
    for (const NodeIndex b : paths.Of(to))
      if (a != b) ++counts[{paths.From(a, b).type, paths.From(a, b).bandwidth}];
  Json list = Json::array();
  for (const auto& [route, count] : counts)
    list.push_back({{"from", NameOf(from)},
                    {"to", NameOf(to)},
                    {"type", NameOf(route.first)},
                    {"mb_per_s", route.second.mb_per_s},
                    {"count", count}});
  return list;
}

Json SearchJson(const NodeView& node) {
  Json list = Json::array();
  for (const plan::SearchTrace& trace : node.search_traces)
    for (const plan::StepOutcome& outcome : trace.search_steps)
      list.push_back({{"graph", NameOf(trace.id)},
                      {"intra_mb_per_s", outcome.search_step.intra_mb_per_s},
                      {"inter_mb_per_s", outcome.search_step.inter_mb_per_s},
                      {"paths_up_to", NameOf(outcome.search_step.type_intra)},
                      {"channels", outcome.channels},
                      {"best_so_far", outcome.improved}});
  return list;
}

}  // namespace

std::string ExplainJson(const PlanView& view, const PlanBounds& bounds, const PlanView* nccl) {
  const NodeView& node = view.nodes.front();
  Json paths = PathCounts(node.paths, NodeKind::kGpu, NodeKind::kGpu);
  for (Json& one : PathCounts(node.paths, NodeKind::kGpu, NodeKind::kNet))
    paths.push_back(std::move(one));
  Json json{{"machine",
             {{"title", view.kinds.front().title},
              {"gpus", node.gpus.size()},
              {"network_ports", node.nets.size()},
              {"numa_nodes", node.paths.Of(NodeKind::kCpu).size()},
              {"paths", std::move(paths)}}},
            {"search", SearchJson(node)},
            {"plan", PlanJson(view, &bounds)},
            {"nccl", nullptr}};
  if (nccl != nullptr) json["nccl"] = PlanJson(*nccl, nullptr);
  return JsonText(json);
}

}  // namespace ringlet::cli
