#include "tool/draw/traffic_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/value/text.hpp"
#include "tool/traffic/traffic_text.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::cli {
namespace {

using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;

constexpr double kWidest = 10, kThinnest = 1.5;

struct HeatStep {
  double load = 0;  ///< lower bound
  std::string_view color;
  std::string_view text;
};
constexpr std::array kHeat = {
    HeatStep{0, "#4c9be8", "below a quarter of the busiest link's time"},
    HeatStep{0.25, "#2f9e44", "below half"},
    HeatStep{0.5, "#f0913a", "below three quarters"},
    HeatStep{0.75, "#d6336c", "above"},
};

std::string HeatOf(double load) {
  std::string_view color;
  for (const HeatStep& step : kHeat)
    if (load >= step.load) color = step.color;
  return std::string(color);
}

/// Bytes on a line of the picture: of a link, or of a NUMA node to all other processors.
struct LineTraffic {
  std::uint64_t there = 0, back = 0;  ///< `there` starts at the node with the lower index
  double load = 0;
};

class TrafficPicture {
 public:
  TrafficPicture(const TrafficReport& report, const Graph& graph) : report_(report), graph_(graph) {
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      const NodeIndex node{i};
      nodes_[{graph.at(node).host, NameOnHost(graph, node)}] = node;
    }
  }

  Result<LayoutLook> Look() {
    for (const LinkTraffic& link : report_.links) RINGLET_TRY(Add(link));
    for (const auto& [ends, line] : lines_) most_ = std::max({most_, line.there, line.back});
    LayoutLook look;
    for (const auto& [ends, line] : lines_) look.lines[ends] = LookOf(ends, line);
    AddRanks(look);
    for (const auto& [nic, bytes] : of_nics_)
      look.notes[nic] = bytes.there < bytes.back ? BytesText(bytes.back) + " in"
                                                 : BytesText(bytes.there) + " out";
    AddLegend(look);
    return look;
  }

 private:
  Result<NodeIndex> NodeNamed(std::uint32_t host, const std::string& name) const {
    const auto found = nodes_.find({host, name});
    if (found != nodes_.end()) return found->second;
    return Error{Code::kInvalidArgument,
                 fmt::format("the machine lacks {}, but the program sent data over it: name the "
                             "topology file of that run",
                             Printable(name, kTrafficNameShown))};
  }

  Status Add(const LinkTraffic& link) {
    RINGLET_TRY_ASSIGN(const NodeIndex from, NodeNamed(link.host, link.from));
    RINGLET_TRY_ASSIGN(const NodeIndex to, NodeNamed(link.host, link.to));
    const NodeKind a = graph_.at(from).kind, b = graph_.at(to).kind;
    if (a == NodeKind::kCpu && b == NodeKind::kCpu) {
      AddLine({from, from}, true, link);
      AddLine({to, to}, false, link);
      return Ok();
    }
    if (topology::IsPort(a) || topology::IsPort(b)) {
      const bool out = topology::IsPort(b);
      const NodeIndex port = out ? to : from, other = out ? from : to;
      const bool on_device = graph_.at(other).kind == NodeKind::kNic;
      AddTo(of_nics_[on_device ? other : port], out, link);
      if (on_device) return Ok();  // a NIC and its ports are one box
    }
    AddLine(std::minmax(from, to), from < to, link);
    return Ok();
  }

  void AddLine(std::pair<NodeIndex, NodeIndex> ends, bool there, const LinkTraffic& link) {
    AddTo(lines_[ends], there, link);
  }
  void AddTo(LineTraffic& line, bool there, const LinkTraffic& link) const {
    AddBytes(there ? line.there : line.back, link.measured_bytes);
    line.load = std::max(line.load, report_.Load(link));
  }

  std::string TitleOf(std::pair<NodeIndex, NodeIndex> ends, const LineTraffic& line) const {
    if (ends.first == ends.second)
      return fmt::format("{} out, {} in", BytesText(line.there), BytesText(line.back));
    return fmt::format("{} to {} {}, back {}", NameOnHost(graph_, ends.first),
                       NameOnHost(graph_, ends.second), BytesText(line.there),
                       BytesText(line.back));
  }

  LinkLook LookOf(std::pair<NodeIndex, NodeIndex> ends, const LineTraffic& line) const {
    const std::uint64_t more = std::max(line.there, line.back);
    if (more == 0) return {.width = 1, .title = TitleOf(ends, line)};
    const double share = static_cast<double>(more) / static_cast<double>(most_);
    return {.width = std::max(kWidest * share, kThinnest),
            .color = HeatOf(line.load),
            .title = TitleOf(ends, line),
            .label = BytesText(more)};
  }

  void AddRanks(LayoutLook& look) const {
    const auto largest =
        std::ranges::max_element(report_.communicators, {}, &CommunicatorTraffic::ranks);
    if (largest == report_.communicators.end()) return;
    for (const RankTraffic& rank : largest->by_rank)
      if (const auto node = nodes_.find({rank.host, rank.gpu}); node != nodes_.end())
        look.notes[node->second] = fmt::format("rank {}", rank.rank);
  }

  void AddLegend(LayoutLook& look) const {
    for (const double share : {0.25, 1.0})
      look.legend.push_back(
          {.width = kWidest * share,
           .label = BytesText(static_cast<std::uint64_t>(static_cast<double>(most_) * share))});
    for (const HeatStep& step : kHeat)
      look.legend.push_back(
          {.width = 4, .color = std::string(step.color), .label = std::string(step.text)});
  }

  const TrafficReport& report_;
  const Graph& graph_;
  std::map<std::pair<std::uint32_t, std::string>, NodeIndex> nodes_;
  std::map<std::pair<NodeIndex, NodeIndex>, LineTraffic> lines_;
  std::map<NodeIndex, LineTraffic> of_nics_;
  std::uint64_t most_ = 0;
};

/// Builds the machine once per host of the report.
Result<Graph> GraphOf(const TrafficReport& report, const topology::HostView& machine) {
  std::vector<topology::HostView> views;
  for (std::uint32_t host = 0; host < report.hosts.size(); ++host) {
    topology::HostView& view = views.emplace_back(machine);
    const std::string& name = report.hosts[host].name;
    view.name = name.empty() ? fmt::format("host {}", host)
                             : fmt::format("host {}: {}", host, Printable(name, kTrafficNameShown));
    view.identity = host + 1;
    for (topology::Gpu& gpu : view.gpus) gpu.rank.reset();
  }
  return topology::Build(
      views, {}, {.gpus = topology::GpuRanks::kAll, .unknown_net = false, .join_fabrics = false});
}

}  // namespace

Result<LayoutLook> TrafficLook(const TrafficReport& report, const Graph& graph) {
  return TrafficPicture(report, graph).Look();
}

Result<Drawing> DrawTraffic(const TrafficReport& report, const topology::HostView& machine,
                            const std::string& title) {
  RINGLET_TRY_ASSIGN(const Graph graph, GraphOf(report, machine));
  RINGLET_TRY(CheckDrawable(graph));
  RINGLET_TRY_ASSIGN(const LayoutLook look, TrafficLook(report, graph));
  return LayOut(graph, title, &look);
}

}  // namespace ringlet::cli
