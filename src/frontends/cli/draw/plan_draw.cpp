#include "frontends/cli/draw/plan_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "frontends/cli/draw/picture_file.hpp"
#include "frontends/cli/draw/topo_layout.hpp"
#include "frontends/cli/plural.hpp"
#include "os/process/env.hpp"
#include "plan/channels/double_tree.hpp"

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

class PlanDrawing {
 public:
  explicit PlanDrawing(const PlanView& view)
      : view_(view),
        node_(view.nodes.front()),
        drawing_(LayOut(*node_.graph, view.title)),
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
    drawing_.lines.push_back(
        {points, 2, Paint::kNvLine, fmt::format("channel {}", number), ColorOf(number)});
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
  Drawing drawing_;
  double y_;
  std::vector<double> gpus_, nets_;
};

struct DrawPlanRequest {
  PlanRequest plan;
  PictureRequest picture;
};

int Run(const DrawPlanRequest& request) {
  const Result<PlanView> view = MakePlanView(request.plan, os::ReadEnvironment());
  if (!view.ok()) return Fail("plan draw", view.error());
  for (const std::string& missing : view->missing) Tell("plan draw", missing);
  const Status drawable = CheckDrawable(*view->nodes.front().graph);
  if (!drawable.ok()) return Fail("plan draw", drawable.error());
  const Status shown = ShowPicture(ToSvg(DrawPlan(*view), request.picture.dark), request.picture);
  return shown.ok() ? 0 : Fail("plan draw", shown.error());
}

}  // namespace

Drawing DrawPlan(const PlanView& view) {
  return PlanDrawing(view).Run();
}

void AddPlanDraw(CLI::App& plan, Action& chosen) {
  CLI::App* draw = plan.add_subcommand("draw", "Draw the rings and trees below the machine");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto request = std::make_shared<DrawPlanRequest>();
  AddPlanRequest(*draw, request->plan);
  AddPicture(*draw, request->picture);
  draw->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
