#include "tool/plan/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tool/plan/plan_channels.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

using plan::GraphId;
using plan::HostPlan;
using plan::PatternGraph;
using Json = nlohmann::ordered_json;

double SearchMilliseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

std::string GraphText(const NodeView& node, const PatternGraph& graph) {
  if (graph.channels.empty()) return "";
  std::string text =
      fmt::format("{} ({}): {} of {} GB/s within a host", NameOf(graph.id), NameOf(graph.pattern),
                  Counted(graph.channels.size(), "channel"), GigabytesText(graph.intra));
  if (graph.channels.front().entry)
    text += fmt::format(", {} GB/s between hosts", GigabytesText(graph.inter));
  text += fmt::format("; paths {}", NameOf(graph.type_intra));
  if (graph.channels.front().entry)
    text += fmt::format(" and {} to NICs", NameOf(graph.type_inter));
  text += fmt::format("\n  all together {} GB/s", GigabytesText(graph.total()));
  if (graph.bound.mb_per_s > 0)
    text += fmt::format(", {:.1f} % of the {} GB/s that no plan can exceed", PercentOfBound(graph),
                        GigabytesText(graph.bound));
  text += fmt::format("\n  search: {}; {}\n", Counted(graph.steps, "step"), NameOf(graph.stopped));
  return text + ChannelsText(node, graph);
}

Json ChannelJson(const NodeView& node, const plan::LocalChannel& channel) {
  Json json;
  Json order = Json::array();
  for (const std::uint32_t device : channel.devices) order.push_back(node.gpus[device]);
  json["order"] = std::move(order);
  json["in"] = channel.entry ? Json(node.nets[*channel.entry]) : Json();
  json["out"] = channel.exit ? Json(node.nets[*channel.exit]) : Json();
  return json;
}

Json GraphJson(const NodeView& node, const PatternGraph& graph) {
  if (graph.channels.empty()) return {};
  Json json = {{"pattern", NameOf(graph.pattern)},
               {"channel_count", graph.channels.size()},
               {"intra_gb_s", graph.intra.mb_per_s / 1000.0},
               {"inter_gb_s", graph.inter.mb_per_s / 1000.0},
               {"type_intra", NameOf(graph.type_intra)},
               {"type_inter", NameOf(graph.type_inter)},
               {"cross_nic", graph.cross_nic},
               {"same_channels", graph.same_channels},
               {"total_gb_s", graph.total().mb_per_s / 1000.0},
               {"bound_gb_s", graph.bound.mb_per_s / 1000.0},
               {"fraction", PercentOfBound(graph) / 100},
               {"steps", graph.steps},
               {"searches", graph.searches},
               {"stopped_because", NameOf(graph.stopped)}};
  Json channels = Json::array();
  for (const plan::LocalChannel& channel : graph.channels)
    channels.push_back(ChannelJson(node, channel));
  json["channels"] = std::move(channels);
  Json groups = Json::array();
  for (const ChannelGroup& group : FoldChannels(graph))
    groups.push_back({{"channels", group.channels},
                      {"first", ChannelJson(node, graph.channels[group.channels.front()])}});
  json["groups"] = std::move(groups);
  return json;
}

Json GraphJson(const NodeView& node, const PatternGraph& graph,
               const std::vector<LimitGroup>* limits) {
  Json json = GraphJson(node, graph);
  if (limits != nullptr && !json.is_null()) json["limited_by"] = LimitsJson(*limits);
  return json;
}

}  // namespace

double PercentOfBound(const PatternGraph& graph) {
  if (graph.bound.mb_per_s == 0) return 0;
  return std::min(100.0, 100.0 * graph.total().mb_per_s / graph.bound.mb_per_s);
}

/// Returns a title with the hosts and the part of a host that a node is.
std::string NodeTitle(const PlanView& view, std::size_t number) {
  for (const HostKind& kind : view.kinds) {
    if (number >= kind.first_node + kind.node_count) continue;
    const std::string of = view.kinds.size() == 1
                               ? std::string("each host")
                               : fmt::format("{} like {}", Counted(kind.hosts, "host"), kind.title);
    const std::string gpus = Counted(view.nodes[number].gpus.size(), "GPU");
    if (kind.node_count == 1) return fmt::format("\n{}, {} each\n", of, gpus);
    return fmt::format("\nnode {} of {}, {}\n", number - kind.first_node, of, gpus);
  }
  return "";
}

std::string PlanText(const PlanView& view, const PlanBounds* bounds) {
  const plan::ChannelPlan& plan = view.joined.plan;
  std::string text = fmt::format("{}: {}, {}, {}, policy {}\n", view.title,
                                 Counted(view.hosts, "host"), Counted(plan.node_count(), "node"),
                                 Counted(view.ranks(), "rank"), NameOf(view.policy));
  if (bounds != nullptr) text += ToText(*bounds);
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    if (view.nodes.size() > 1) text += NodeTitle(view, i);
    for (const PatternGraph& graph : view.classes[i].plan.graphs)
      if (std::string one = GraphText(view.nodes[i], graph); !one.empty()) text += "\n" + one;
    text += fmt::format("\nplanned in {:.2f} ms\n", SearchMilliseconds(view.nodes[i].search_time));
  }
  text += fmt::format("\njoined over {} in {:.2f} ms: {}; a rank keeps {} bytes of it\n",
                      Counted(plan.node_count(), "node"), SearchMilliseconds(view.join_time),
                      CountsText(plan.counts()), plan.bytes());
  for (const plan::Shortfall& shortfall : view.joined.shortfalls) text += ToText(shortfall) + "\n";
  return text;
}

Json PlanJson(const PlanView& view, const PlanBounds* bounds) {
  const HostPlan& plan = view.classes.front().plan;
  const NodeView& node = view.nodes.front();
  Json json = {{"gpus", 0},
               {"hosts", view.hosts},
               {"nodes", view.joined.plan.node_count()},
               {"policy", NameOf(view.policy)}};
  std::size_t gpus = 0;
  for (std::size_t i = 0; i < view.kinds.front().node_count; ++i) gpus += view.nodes[i].gpus.size();
  json["gpus"] = gpus;
  json["ring"] = GraphJson(node, plan.of(GraphId::kRing), bounds ? &bounds->ring : nullptr);
  json["tree"] = GraphJson(node, plan.of(GraphId::kTree), bounds ? &bounds->tree : nullptr);
  json["nvls"] = GraphJson(node, plan.of(GraphId::kNvls));
  for (std::size_t i = 1; i < view.nodes.size(); ++i) {
    const HostPlan& other = view.classes[i].plan;
    json["other_nodes"].push_back({{"gpus", view.nodes[i].gpus.size()},
                                   {"ring", GraphJson(view.nodes[i], other.of(GraphId::kRing))},
                                   {"tree", GraphJson(view.nodes[i], other.of(GraphId::kTree))},
                                   {"nvls", GraphJson(view.nodes[i], other.of(GraphId::kNvls))}});
  }
  const plan::ChannelCounts counts = view.joined.plan.counts();
  json["final_channels"] = counts.rings;
  json["final_tree_channels"] = counts.trees;
  json["plan_ms"] = SearchMilliseconds(node.search_time);
  json["join_ms"] = SearchMilliseconds(view.join_time);
  json["plan_bytes"] = view.joined.plan.bytes();
  json["digest"] = fmt::format("{:016x}", view.joined.plan.digest());
  Json shortfalls = Json::array();
  for (const plan::Shortfall& shortfall : view.joined.shortfalls)
    shortfalls.push_back(ToText(shortfall));
  json["shortfalls"] = std::move(shortfalls);
  if (bounds != nullptr) json["gains"] = GainsJson(bounds->gains);
  return json;
}

namespace {

/// A row of the table: the bandwidth of rings and trees with at most this number of channels.
struct ByChannelsRow {
  std::size_t channels = 0;
  topology::Bandwidth rings = {}, trees = {};
  bool rings_taken = false, trees_taken = false;
};

/// Returns the numbers of channels at which rings or trees gain bandwidth, and the selected ones.
std::vector<ByChannelsRow> RowsOf(const HostPlan& taken, const std::vector<HostPlan>& plans) {
  std::map<std::size_t, ByChannelsRow> rows;
  const auto add = [&](const HostPlan& plan, bool is_taken) {
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
      const PatternGraph& graph = plan.of(id);
      ByChannelsRow& row = rows[graph.channels.size()];
      topology::Bandwidth& total = id == GraphId::kRing ? row.rings : row.trees;
      total = std::max(total, graph.total());
      (id == GraphId::kRing ? row.rings_taken : row.trees_taken) |= is_taken;
    }
  };
  add(taken, true);
  for (const HostPlan& plan : plans) add(plan, false);
  std::vector<ByChannelsRow> worth_showing;
  topology::Bandwidth rings, trees;
  for (auto& [channels, row] : rows) {
    const bool more = row.rings > rings || row.trees > trees;
    row.channels = channels;
    row.rings = rings = std::max(rings, row.rings);
    row.trees = trees = std::max(trees, row.trees);
    if (more || row.rings_taken || row.trees_taken) worth_showing.push_back(row);
  }
  return worth_showing;
}

std::string_view TakenText(const ByChannelsRow& row) {
  if (row.rings_taken) return row.trees_taken ? "  taken" : "  taken of rings";
  return row.trees_taken ? "  taken of trees" : "";
}

}  // namespace

std::string CountsText(const plan::ChannelCounts& counts) {
  if (counts.rings == counts.trees) return Counted(counts.rings, "channel");
  return fmt::format("{} for rings, {} for trees", Counted(counts.rings, "channel"), counts.trees);
}

std::string ByChannelsText(const PlanView& view, const std::vector<HostPlan>& plans) {
  std::string text = fmt::format("{:>8}  {:>12}  {:>12}\n", "channels", "rings GB/s", "trees GB/s");
  for (const ByChannelsRow& row : RowsOf(view.classes.front().plan, plans))
    text += fmt::format("{:>8}  {:>12}  {:>12}{}\n", row.channels, GigabytesText(row.rings),
                        GigabytesText(row.trees), TakenText(row));
  return text;
}

std::string ByChannelsJson(const PlanView& view, const std::vector<HostPlan>& plans) {
  Json list = Json::array();
  for (const ByChannelsRow& row : RowsOf(view.classes.front().plan, plans))
    list.push_back({{"channels", row.channels},
                    {"ring_gb_s", row.rings.mb_per_s / 1000.0},
                    {"tree_gb_s", row.trees.mb_per_s / 1000.0},
                    {"ring_taken", row.rings_taken},
                    {"tree_taken", row.trees_taken}});
  return JsonText(Json{{"by_channels", std::move(list)}});
}

}  // namespace ringlet::cli
