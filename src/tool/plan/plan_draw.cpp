#include "tool/plan/plan_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "comm/machine/prediction.hpp"
#include "os/process/env.hpp"
#include "plan/channels/double_tree.hpp"
#include "tool/draw/drawn_machine.hpp"
#include "tool/draw/page.hpp"
#include "tool/draw/picture_file.hpp"
#include "tool/draw/traffic_draw.hpp"
#include "tool/operation/size_units.hpp"
#include "tool/operation/sweep.hpp"
#include "tool/plan/plan_channels.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"
#include "topo/check/check.hpp"

namespace ringlet::cli {
namespace {

using plan::GraphId;
using topology::NodeIndex;
using topology::NodeKind;

constexpr double kPlanLeft = 24;    // left edge of the title and of everything below it
constexpr double kPlanSize = 11;    // size of letters
constexpr double kChip = 22;        // height of the box of a device in a channel
constexpr double kChipGap = 16;     // between the boxes of two devices
constexpr double kChannelGap = 10;  // between channels
constexpr double kHead = 30;        // above the channels of a pattern
constexpr double kRowWidthMin = 900;
constexpr double kTreeStep = 46, kTreeWidth = 52, kTreeBox = 24;
constexpr std::size_t kDrawnRowsMax = 32;
constexpr std::uint32_t kDrawnNodesOfTreeMax = 48;

// Colors that are distinct for most types of color vision, on light and dark backgrounds.
// Source  Okabe and Ito's palette, with yellow and black replaced
constexpr std::array<const char*, 8> kChannelColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                       "#E69F00", "#56B4E9", "#8F63C9", "#7A8B2E"};

const char* ColorOf(std::size_t channel) {
  return kChannelColors[channel % kChannelColors.size()];
}

std::vector<topology::Defect> DefectsOf(const PlanView& view) {
  const topology::Positions none;
  return topology::Check({.view = view.kinds.front().machine, .positions = none});
}

/// Channels with the same devices in order and the same NICs. Rings without NICs may begin
/// anywhere.
struct EqualChannels {
  plan::LocalChannel channel;
  std::vector<std::uint32_t> numbers;
};

std::vector<EqualChannels> RowsOf(const plan::PatternGraph& graph) {
  std::vector<EqualChannels> rows;
  for (std::uint32_t i = 0; i < graph.channels.size(); ++i) {
    plan::LocalChannel channel = graph.channels[i];
    if (!channel.entry && graph.id == GraphId::kRing)
      std::ranges::rotate(channel.devices, std::ranges::min_element(channel.devices));
    auto row = std::ranges::find(rows, channel, &EqualChannels::channel);
    if (row == rows.end()) row = rows.insert(row, {channel, {}});
    row->numbers.push_back(i);
  }
  return rows;
}

/// Formats the label of a row: "0-11, x 12".
std::string RowLabel(const EqualChannels& row) {
  std::string text = RangesText(row.numbers);
  if (row.numbers.size() > 1) text += fmt::format(", x {}", row.numbers.size());
  return text;
}

/// A device or NIC on a channel.
struct Chip {
  std::string label;
  bool is_nic = false;
  bool is_return = false;  ///< the first device again, which closes the ring
};

class PlanDrawing {
 public:
  PlanDrawing(const PlanView& view, const LayoutLook* look)
      : view_(view),
        node_(view.nodes.front()),
        facts_(FactsOf(*node_.graph, view.kinds.front().machine, DefectsOf(view))),
        drawing_(LayOut(*node_.graph, view.title, look, &facts_)),
        y_(drawing_.height) {
    drawing_.width = std::max(drawing_.width, kRowWidthMin);
    for (const auto* const labels : {&node_.gpus, &node_.nets})
      for (const std::string& label : *labels)
        chip_width_ = std::max(chip_width_, TextWidth(label, kPlanSize) + kChipGap);
  }

  Drawing Run() {
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) DrawPattern(id);
    DrawTrees();
    drawing_.height = y_ + kHead;
    return std::move(drawing_);
  }

 private:
  void AddText(double x, double y, std::string text, bool strong, Anchor anchor = Anchor::kStart) {
    drawing_.words.push_back({.x = x,
                              .y = y,
                              .text = std::move(text),
                              .size = kPlanSize,
                              .anchor = anchor,
                              .strong = strong});
  }

  void DrawPattern(GraphId id) {
    const plan::PatternGraph& graph = view_.classes.front().plan.of(id);
    if (graph.channels.empty()) return;
    AddText(kPlanLeft, y_ + 14,
            fmt::format("{} ({}): {}, {} GB/s together; equal channels are drawn once", NameOf(id),
                        NameOf(graph.pattern), Counted(graph.channels.size(), "channel"),
                        GigabytesText(graph.total())),
            true);
    y_ += kHead;
    const std::vector<EqualChannels> rows = RowsOf(graph);
    double label_width = 0;
    std::size_t left = graph.channels.size();
    for (const EqualChannels& row : rows)
      label_width = std::max(label_width, TextWidth(RowLabel(row), kPlanSize));
    for (std::size_t i = 0; i < std::min(rows.size(), kDrawnRowsMax); ++i) {
      DrawRow(graph, rows[i], i, kPlanLeft + label_width + kChipGap);
      left -= rows[i].numbers.size();
    }
    if (left == 0) return;
    AddText(kPlanLeft, y_ + 10, fmt::format("and {} more", left), false);
    y_ += kHead;
  }

  std::vector<Chip> ChipsOf(const plan::PatternGraph& graph,
                            const plan::LocalChannel& channel) const {
    const bool ring = graph.id == GraphId::kRing;
    std::vector<Chip> chips;
    if (channel.entry) chips.push_back({node_.nets[*channel.entry], true});
    for (const std::uint32_t device : channel.devices) chips.push_back({node_.gpus[device]});
    if (ring && channel.exit) chips.push_back({node_.nets[*channel.exit], true});
    if (ring && !channel.exit && channel.devices.size() > 1)
      chips.push_back({node_.gpus[channel.devices.front()], false, true});
    return chips;
  }

  /// Draws one row of boxes. Continues in more rows if they do not fit.
  void DrawRow(const plan::PatternGraph& graph, const EqualChannels& row, std::size_t number,
               double begin) {
    AddText(kPlanLeft, y_ + kChip / 2 + 4, RowLabel(row), true);
    const double step = chip_width_ + kChipGap;
    double x = begin;
    const std::vector<Chip> chips = ChipsOf(graph, row.channel);
    for (std::size_t i = 0; i < chips.size(); ++i) {
      const double middle = y_ + kChip / 2;
      if (i > 0) DrawArrow(graph, row, number, {{x - kChipGap, middle}, {x, middle}});
      DrawChip(chips[i], x);
      x += step;
      if (x + chip_width_ <= drawing_.width - kPlanLeft || i + 1 == chips.size()) continue;
      DrawArrow(graph, row, number, {{x - kChipGap, middle}, {x - kChipGap / 2, middle}});
      x = begin;
      y_ += kChip + kChannelGap / 2;
    }
    // Data of a tree leaves the host by the NIC of the first box, or by a different exit NIC.
    const auto& exit = row.channel.exit;
    if (exit && graph.id != GraphId::kRing && exit != row.channel.entry)
      AddText(x, y_ + kChip / 2 + 4, "out by " + node_.nets[*exit], false);
    y_ += kChip + kChannelGap;
  }

  void DrawChip(const Chip& chip, double x) {
    Box box{x, y_, chip_width_, kChip, chip.is_nic ? Paint::kNic : Paint::kGpu};
    if (chip.is_return) box.title = "the ring closes here";
    box.dashed = chip.is_return;
    if (chip.is_return) box.outline = "#8b95a1";
    drawing_.boxes.push_back(std::move(box));
    AddText(x + chip_width_ / 2, y_ + kChip / 2 + 4, chip.label, false, Anchor::kMiddle);
  }

  void DrawArrow(const plan::PatternGraph& graph, const EqualChannels& row, std::size_t number,
                 std::vector<std::pair<double, double>> points) {
    drawing_.lines.push_back({.points = std::move(points),
                              .width = 3,
                              .paint = Paint::kNvLine,
                              .title = "channel " + RowLabel(row),
                              .color = ColorOf(number),
                              .group = fmt::format("{} {}", NameOf(graph.id), RowLabel(row))});
  }

  // Draws both trees over nodes, side by side if there is room.
  void DrawTrees() {
    const std::uint32_t nodes = view_.joined.plan.node_count();
    if (nodes < 2) return;
    const std::uint32_t shown = std::min(nodes, kDrawnNodesOfTreeMax);
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      AddText(kPlanLeft, y_ + 14,
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
      AddText(x(node), top + 16, fmt::format("{}", node), false, Anchor::kMiddle);
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
  double chip_width_ = 0;
};

struct DrawPlanRequest {
  PlanRequest plan;
  PictureRequest picture;
  std::string load;  ///< an operation; empty: the width of lines shows their bandwidth
  std::string bytes = "1G";
};

/// Returns the load of the links of the drawn node in the form of a traffic report.
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
  for (const std::string& missing : view.missing) PrintNote("plan draw", missing);
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
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<DrawPlanRequest>();
  AddPlanRequest(*draw, request->plan);
  AddPicture(*draw, request->picture, true);
  draw->add_option("--load", request->load,
                   "Draw the links of the first host with widths by the bytes that they carry for "
                   "this operation")
      ->check(CLI::IsMember({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"}));
  draw->add_option("-b,--bytes", request->bytes, fmt::format("Size of --load; {}", kSizeUnitsHelp))
      ->type_name(kSizeType)
      ->capture_default_str();
  draw->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
