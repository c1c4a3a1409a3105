#include "frontends/cli/draw/plan_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "comm/machine/prediction.hpp"
#include "frontends/cli/bench/sweep.hpp"
#include "frontends/cli/draw/drawn_machine.hpp"
#include "frontends/cli/draw/page.hpp"
#include "frontends/cli/draw/picture_file.hpp"
#include "frontends/cli/draw/traffic_draw.hpp"
#include "frontends/cli/plural.hpp"
#include "frontends/cli/size_units.hpp"
#include "frontends/cli/value_types.hpp"
#include "os/process/env.hpp"
#include "plan/channels/double_tree.hpp"
#include "topology/check/check.hpp"

namespace ringlet::cli {
namespace {

using plan::GraphId;
using topology::NodeIndex;
using topology::NodeKind;

constexpr double kStep = 11;        // down, from one device of a ring to the next
constexpr double kChannelGap = 12;  // between channels
constexpr double kHead = 30;        // above the channels of a pattern
constexpr double kTreeStep = 46, kTreeWidth = 52, kTreeBox = 24;
constexpr std::size_t kDrawnChannelsMax = 32;
constexpr std::uint32_t kDrawnNodesOfTreeMax = 48;

// Told apart by most eyes, on light and on dark ground.
// Source  Okabe and Ito's palette, but for its yellow and black.
constexpr std::array<const char*, 8> kChannelColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                       "#E69F00", "#56B4E9", "#8F63C9", "#7A8B2E"};

const char* ColorOf(std::size_t channel) {
  return kChannelColors[channel % kChannelColors.size()];
}

std::vector<topology::Defect> DefectsOf(const PlanView& view) {
  const topology::Positions none;
  return topology::Check({.view = view.kinds.front().machine, .positions = none});
}

class PlanDrawing {
 public:
  PlanDrawing(const PlanView& view, const LayoutLook* look)
      : view_(view),
        node_(view.nodes.front()),
        facts_(FactsOf(*node_.graph, view.kinds.front().machine, DefectsOf(view))),
        drawing_(LayOut(*node_.graph, view.title, look, &facts_)),
        y_(drawing_.height) {
    FindColumns();
  }

  Drawing Run() {
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) DrawPattern(id);
    DrawTrees();
    drawing_.height = y_ + kHead;
    return std::move(drawing_);
  }

 private:
  // The middle of the box of each GPU and NIC.
  void FindColumns() {
    std::map<std::uint32_t, double> middles;
    for (const Box& box : drawing_.boxes)
      if (box.node) middles[*box.node] = box.x + box.width / 2;
    const topology::Graph& graph = *node_.graph;
    for (const NodeIndex gpu : node_.paths.Of(NodeKind::kGpu))
      gpus_.push_back(middles[Index(graph.gpu(gpu).device)]);
    for (const NodeIndex net : node_.paths.Of(NodeKind::kNet)) {
      double middle = middles[Index(net)];
      for (const topology::Link& link : graph.at(net).links)
        if (graph.at(link.to).kind == NodeKind::kNic) middle = middles[Index(link.to)];
      nets_.push_back(middle);
    }
  }

  void Say(double x, double y, std::string text, bool strong, Anchor anchor = Anchor::kStart) {
    constexpr double kSize = 11;
    drawing_.words.push_back({.x = x,
                              .y = y,
                              .text = std::move(text),
                              .size = kSize,
                              .anchor = anchor,
                              .strong = strong});
  }

  void DrawPattern(GraphId id) {
    const plan::PatternGraph& graph = view_.classes.front().plan.of(id);
    if (graph.channels.empty()) return;
    const double top = y_;
    Say(24, y_ + 14,
        fmt::format("{} ({}): {}, {} GB/s together; each passes its devices from top to "
                    "bottom",
                    NameOf(id), NameOf(graph.pattern), Counted(graph.channels.size(), "channel"),
                    GigabytesText(graph.total())),
        true);
    y_ += kHead;
    const std::size_t shown = std::min(graph.channels.size(), kDrawnChannelsMax);
    for (std::size_t i = 0; i < shown; ++i) DrawChannel(i, graph, graph.channels[i]);
    if (shown < graph.channels.size()) {
      Say(24, y_ + 10, fmt::format("and {} more", graph.channels.size() - shown), false);
      y_ += kHead;
    }
    DrawColumns(top + kHead - 8);
  }

  void DrawColumns(double top) {
    for (const double x : gpus_)
      drawing_.lines.insert(drawing_.lines.begin(),
                            Polyline{{{x, top}, {x, y_ - kChannelGap}}, 0.5, Paint::kPciLine});
  }

  void DrawChannel(std::size_t number, const plan::PatternGraph& graph,
                   const plan::LocalChannel& channel) {
    std::vector<std::pair<double, double>> points;
    Say(8, y_ + kStep, fmt::format("{}", number), false);
    const auto add = [&](double x) {
      points.emplace_back(x, y_);
      y_ += kStep;
    };
    if (channel.entry) add(nets_[*channel.entry]);
    for (const std::uint32_t device : channel.devices) add(gpus_[device]);
    if (channel.exit && graph.id == GraphId::kRing) add(nets_[*channel.exit]);
    constexpr double kDot = 5;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool net = (i == 0 && channel.entry) ||
                       (i + 1 == points.size() && channel.exit && graph.id == GraphId::kRing);
      drawing_.boxes.push_back({points[i].first - kDot / 2, points[i].second - kDot / 2, kDot, kDot,
                                net ? Paint::kNic : Paint::kGpu});
    }
    drawing_.lines.push_back({.points = points,
                              .width = 2,
                              .paint = Paint::kNvLine,
                              .title = fmt::format("channel {}", number),
                              .color = ColorOf(number),
                              .group = fmt::format("{} {}", NameOf(graph.id), number)});
    y_ += kChannelGap;
  }

  // Both trees over nodes, side by side where there is room.
  void DrawTrees() {
    const std::uint32_t nodes = view_.joined.plan.node_count();
    if (nodes < 2) return;
    const std::uint32_t shown = std::min(nodes, kDrawnNodesOfTreeMax);
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      Say(24, y_ + 14,
          fmt::format("tree {} over {} nodes: channels {}{}", tree, nodes,
                      tree == 0 ? "of the first half" : "of the second half",
                      shown < nodes ? fmt::format(" (the first {} nodes)", shown) : ""),
          true);
      y_ += kHead;
      DrawTree(tree, nodes, shown);
    }
  }

  void DrawTree(std::uint32_t tree, std::uint32_t nodes, std::uint32_t shown) {
    const auto depth = [&](std::uint32_t node) {
      double steps = 0;
      for (auto up = plan::PlaceInTree(node, nodes, tree).parent; up;
           up = plan::PlaceInTree(*up, nodes, tree).parent)
        ++steps;
      return steps;
    };
    double deepest = 0;
    const auto x = [](std::uint32_t node) { return 30 + kTreeWidth * (node + 0.5); };
    for (std::uint32_t node = 0; node < shown; ++node) {
      const double level = depth(node), top = y_ + level * kTreeStep;
      deepest = std::max(deepest, level);
      const plan::DoubleTreePlace place = plan::PlaceInTree(node, nodes, tree);
      const Rank head =
          view_.joined.plan.RankAt({node, view_.joined.plan.ShapeOf(node).trees[0].order.front()});
      drawing_.boxes.push_back({x(node) - kTreeWidth * 0.42, top, kTreeWidth * 0.84, kTreeBox,
                                place.leaf() ? Paint::kNuma : Paint::kSwitch,
                                fmt::format("node {}, first rank {}", node, Index(head))});
      Say(x(node), top + 16, fmt::format("{}", node), false, Anchor::kMiddle);
      if (place.parent && *place.parent < shown)
        drawing_.lines.push_back({{{x(node), top},
                                   {x(node), top - (kTreeStep - kTreeBox) / 2},
                                   {x(*place.parent), top - (kTreeStep - kTreeBox) / 2},
                                   {x(*place.parent), y_ + (level - 1) * kTreeStep + kTreeBox}},
                                  2,
                                  Paint::kNvLine,
                                  {},
                                  ColorOf(tree)});
    }
    drawing_.width = std::max(drawing_.width, x(shown));
    y_ += (deepest + 1) * kTreeStep + kChannelGap;
  }

  const PlanView& view_;
  const NodeView& node_;
  DrawnFacts facts_;
  Drawing drawing_;
  double y_;
  std::vector<double> gpus_, nets_;
};

struct DrawPlanRequest {
  PlanRequest plan;
  PictureRequest picture;
  std::string load;  ///< an operation; empty: lines are as wide as their bandwidth
  std::string bytes = "1G";
};

/// The load of the links of the drawn node, as a report of traffic has it.
Result<TrafficReport> LoadOf(const DrawPlanRequest& request, const topology::Graph& graph) {
  const EnvMap environment = os::ReadEnvironment();
  RINGLET_TRY_ASSIGN(const std::uint64_t bytes, ParseSize(request.bytes));
  RINGLET_TRY_ASSIGN(PlanView view, MakePlanView(request.plan, environment));
  RINGLET_TRY(comm::CheckFlows(view.ranks()));
  RINGLET_TRY_ASSIGN(plan::TuningInput input, TuningInputOf(view, environment));
  plan::Tuning tuning(std::move(input), view.joined.plan.counts());
  const plan::GpuPlan plan = GpuPlanOf(std::move(view), std::move(tuning));
  RINGLET_TRY_ASSIGN(const comm::Flows flows,
                     comm::FlowsOf(plan, *collective::CallKindNamed(request.load), bytes));
  std::set<std::pair<std::uint32_t, std::string>> names;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
    names.emplace(graph.at(NodeIndex{i}).host, topology::NameOnHost(graph, NodeIndex{i}));
  TrafficReport report;
  for (const comm::LinkFlow& link : flows.links)
    if (names.contains({link.host, link.from}) && names.contains({link.host, link.to}))
      report.links.push_back({.host = link.host,
                              .from = link.from,
                              .to = link.to,
                              .kind = std::string(NameOf(link.kind)),
                              .mb_per_s = link.bandwidth.mb_per_s,
                              .measured_bytes = link.bytes,
                              .planned_bytes = link.bytes});
  return report;
}

Status Draw(const DrawPlanRequest& request) {
  RINGLET_TRY_ASSIGN(PlanView view, MakePlanView(request.plan, os::ReadEnvironment()));
  for (const std::string& missing : view.missing) Tell("plan draw", missing);
  const NodeView& node = view.nodes.front();
  RINGLET_TRY(CheckDrawable(*node.graph));
  std::optional<LayoutLook> look;
  if (!request.load.empty()) {
    RINGLET_TRY_ASSIGN(const TrafficReport report, LoadOf(request, *node.graph));
    RINGLET_TRY_ASSIGN(look, TrafficLook(report, *node.graph));
    view.title += fmt::format(": load of {} of {}", request.load, request.bytes);
  }
  const Drawing drawing = DrawPlan(view, look ? &*look : nullptr);
  if (!IsPage(request.picture.output))
    return ShowPicture(ToSvg(drawing, request.picture.dark), request.picture);
  const PageMachine page{
      .title = view.title,
      .drawing = drawing,
      .paths = node.paths,
      .findings = PageFindingsOf(*node.graph, view.kinds.front().machine, DefectsOf(view))};
  return WriteFile(request.picture.output, PageOf(view.title, {&page, 1}));
}

int Run(const DrawPlanRequest& request) {
  return ExitStatusOf("plan draw", Draw(request));
}

}  // namespace

Drawing DrawPlan(const PlanView& view, const LayoutLook* look) {
  return PlanDrawing(view, look).Run();
}

void AddPlanDraw(CLI::App& plan, Action& chosen) {
  CLI::App* draw = plan.add_subcommand("draw", "Draw the rings and trees below the machine");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto request = std::make_shared<DrawPlanRequest>();
  AddPlanRequest(*draw, request->plan);
  AddPicture(*draw, request->picture, true);
  draw->add_option("--load", request->load,
                   "Draw the links of the first host as wide as the bytes that they carry for this "
                   "operation")
      ->check(CLI::IsMember({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"}));
  draw->add_option("-b,--bytes", request->bytes, fmt::format("Size of --load; {}", kSizeUnitsHelp))
      ->type_name(kSizeType)
      ->capture_default_str();
  draw->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
