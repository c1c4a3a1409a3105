#include "tool/draw/topo_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/value/text.hpp"
#include "tool/text/plural.hpp"
#include "tool/topo/topo_paths.hpp"

namespace ringlet::cli {
namespace {

using topology::Bandwidth;
using topology::Graph;
using topology::HostNodes;
using topology::LinkKind;
using topology::Node;
using topology::NodeIndex;
using topology::NodeKind;

constexpr double kMargin = 24;
constexpr double kTitleHeight = 34;
constexpr double kLeafWidth = 88, kLeafHeight = 48, kLeafGap = 10;
constexpr double kSwitchHeight = 22, kLevelGap = 30;  // leaves room for a bandwidth beside a line
constexpr double kNumaHead = 40, kNumaPad = 10, kNumaGap = 20;
constexpr double kHostHead = 26, kHostPad = 14, kHostGap = 26;
constexpr double kBusHeight = 20, kBusGap = 24;
constexpr double kNvSwitchGap = 34, kNvSwitchHeight = 26;
constexpr double kTrackHeight = 15, kTracksGap = 16;  // for direct NVLinks
constexpr double kSpine = 40;  // space to the left of hosts that share NVSwitches
constexpr double kLegendHeight = 64, kLegendRow = 24, kLegendRows = 2;
constexpr double kSmallText = 9, kNormal = 11, kLarge = 14;
constexpr std::size_t kLabelBytesShown = 60;  // bytes of a name
constexpr double kRowWidthMax = 2800;         // width of a row of hosts
constexpr std::string_view kUnusedColor = "#adb5bd";
// Legible on light and dark backgrounds. Dashes mark warnings for readers who cannot see colors.
constexpr std::string_view kErrorColor = "#e03131", kWarningColor = "#f08c00";

/// Returns the outline color of errors and warnings. Notes do not have an outline.
std::string OutlierColor(std::optional<topology::Severity> severity) {
  if (severity == topology::Severity::kError) return std::string(kErrorColor);
  return severity == topology::Severity::kWarning ? std::string(kWarningColor) : "";
}

/// A NUMA node, a switch, a GPU, a NIC, or a port without a known NIC.
struct Item {
  NodeIndex node{};
  std::vector<Item> below = {};
  bool is_leaf = false;
  double x = 0, width = 0;
};

double WidthOf(const std::vector<Item>& items) {
  double width = items.empty() ? 0 : kLeafGap * static_cast<double>(items.size() - 1);
  for (const Item& item : items) width += item.width;
  return width;
}

/// A direct NVLink between two devices of a host.
struct LegWire {
  NodeIndex left{}, right{};
  Bandwidth out, back;
  double from = 0, to = 0;  // x of the wire's two legs
  std::size_t track = 0;
};

/// Lays out one host: first the sizes of its parts, then their positions.
class HostLayout {
 public:
  HostLayout(const Graph& graph, const HostNodes& host, const LayoutLook* look,
             const DrawnFacts* facts)
      : graph_(graph), host_(host), look_(look), facts_(facts) {
    for (std::uint32_t i = host.first; i < host.end; ++i) {
      const NodeIndex node{i};
      if (graph.at(node).kind != NodeKind::kCpu) continue;
      Item numa{node};
      depth_ = std::max(depth_, Grow(numa, node));
      const std::string model = ModelText(graph.cpu(node));
      const double head =
          std::max(TextWidth(NumaText(node), kNormal), TextWidth(model, kSmallText));
      numa.width = std::max(WidthOf(numa.below), head) + 2 * kNumaPad;
      numas_.push_back(std::move(numa));
    }
    for (const Item& numa : numas_) width_ += numa.width;
    width_ += kNumaGap * static_cast<double>(numas_.size() - 1) + 2 * kHostPad;
    width_ = std::max(width_, TextWidth(host.name, kNormal) + 2 * kHostPad);
    const double levels = static_cast<double>(depth_) * (kSwitchHeight + kLevelGap);
    leaf_y_ =
        kHostHead + (numas_.size() > 1 ? kBusHeight + kBusGap : 0) + kNumaHead + kLevelGap + levels;
    if (!has_leaf_) leaf_y_ -= kLevelGap;
    FindWires();
  }

  double width() const { return width_; }
  double height() const {
    double height = leaf_y_ + (has_leaf_ ? kLeafHeight : 0) + kNumaPad + kHostPad;
    if (nvswitch_) height += kNvSwitchGap + kNvSwitchHeight;
    if (!wires_.empty()) height += kTracksGap + kTrackHeight * static_cast<double>(tracks_);
    return height;
  }
  bool has_nvswitch() const { return nvswitch_.has_value(); }
  std::optional<NodeIndex> nvswitch() const { return nvswitch_; }
  double nvswitch_y() const { return leaf_y_ + kLeafHeight + kNumaPad + kNvSwitchGap; }

  void Draw(Drawing& drawing, double x, double y) {
    drawing.boxes.push_back({x, y, width_, height(), Paint::kHost, host_.name});
    Put(drawing, x + kHostPad, y + 18, Fitted(host_.name, kNormal, width_ - 2 * kHostPad), kNormal,
        Anchor::kStart, true);
    double at = x + (width_ - NumasWidth()) / 2;
    const double numa_y = y + kHostHead + (numas_.size() > 1 ? kBusHeight + kBusGap : 0);
    for (Item& numa : numas_) {
      Place(numa, at);
      at += numa.width + kNumaGap;
    }
    if (numas_.size() > 1) DrawSockets(drawing, x, y + kHostHead, numa_y);
    for (const Item& numa : numas_) DrawNuma(drawing, numa, numa_y, y);
    if (nvswitch_) DrawNvSwitch(drawing, x, y);
    DrawWires(drawing, y);
  }

 private:
  double NumasWidth() const {
    double width = kNumaGap * static_cast<double>(numas_.size() - 1);
    for (const Item& numa : numas_) width += numa.width;
    return width;
  }

  std::string NumaText(NodeIndex node) const {
    const Node& one = graph_.at(node);
    return one.number == topology::kUnknownNuma ? "NUMA node ?"
                                                : fmt::format("NUMA node {}", one.number);
  }

  static std::string ModelText(const topology::CpuModel& cpu) {
    if (cpu.vendor == "GenuineIntel") return fmt::format("Intel {}/{:#x}", cpu.family, cpu.model);
    if (cpu.vendor == "AuthenticAMD") return fmt::format("AMD {}/{:#x}", cpu.family, cpu.model);
    const std::string_view text =
        cpu.arch == "x86_64" && !cpu.vendor.empty() ? cpu.vendor : cpu.arch;
    return Printable(text, kLabelBytesShown);
  }

  /// Adds the children of a node. Returns the number of levels of switches below it.
  std::size_t Grow(Item& item, NodeIndex above) {
    std::size_t depth = 0;
    for (const topology::Link& link : graph_.at(item.node).links) {
      const NodeKind kind = graph_.at(link.to).kind;
      const bool down = link.kind == LinkKind::kPci
                            ? link.to != above && kind != NodeKind::kCpu
                            : topology::IsPort(kind) && graph_.at(item.node).kind == NodeKind::kCpu;
      if (!down) continue;
      Item child{link.to};
      if (kind == NodeKind::kPci) {
        const std::size_t levels = Grow(child, item.node);
        if (child.below.empty()) continue;  // a switch without devices is omitted
        depth = std::max(depth, 1 + levels);
        child.width = std::max(WidthOf(child.below), kLeafWidth);
      } else {
        child.is_leaf = true;
        child.width = kLeafWidth;
        has_leaf_ = true;
      }
      item.below.push_back(std::move(child));
    }
    return depth;
  }

  void Place(Item& item, double x) {
    item.x = x;
    double at = x + (item.width - WidthOf(item.below)) / 2;
    for (Item& child : item.below) {
      Place(child, at);
      at += child.width + kLeafGap;
    }
    if (item.is_leaf) leaf_x_[item.node] = x;
  }

  void FindWires() {
    for (std::uint32_t i = host_.first; i < host_.end; ++i) {
      const NodeIndex node{i};
      if (graph_.at(node).kind != NodeKind::kDev) continue;
      for (const topology::Link& link : graph_.at(node).links) {
        if (link.kind != LinkKind::kNvLink) continue;
        if (graph_.at(link.to).kind == NodeKind::kNvs) nvswitch_ = link.to;
        if (graph_.at(link.to).kind != NodeKind::kDev || Index(link.to) < i) continue;
        wires_.push_back({node, link.to, link.bandwidth, BackOf(link.to, node)});
      }
    }
    AssignTracks();
  }

  Bandwidth BackOf(NodeIndex from, NodeIndex to) const {
    for (const topology::Link& link : graph_.at(from).links)
      if (link.to == to && link.kind == LinkKind::kNvLink) return link.bandwidth;
    return {};
  }

  /// Assigns the positions of legs below their devices and the depth of each wire. Short wires come
  /// first, and wires do not overlap. Uses the positions of leaves in a host that lies at 0.
  void AssignTracks() {
    if (wires_.empty()) return;
    double at = 0;
    for (Item& numa : numas_) {
      Place(numa, at);
      at += numa.width + kNumaGap;
    }
    // by the position of the other end
    std::map<NodeIndex, std::vector<std::pair<double, double*>>> legs;
    for (LegWire& wire : wires_) {
      if (leaf_x_[wire.right] < leaf_x_[wire.left]) {
        std::swap(wire.left, wire.right);
        std::swap(wire.out, wire.back);
      }
      legs[wire.left].emplace_back(leaf_x_[wire.right], &wire.from);
      legs[wire.right].emplace_back(leaf_x_[wire.left], &wire.to);
    }
    for (auto& [device, ends] : legs) {
      // Wires to the left leave on the left. On each side, wires to near devices nest inside.
      std::sort(ends.begin(), ends.end(), [own = leaf_x_[device]](const auto& a, const auto& b) {
        const bool a_left = a.first < own, b_left = b.first < own;
        if (a_left != b_left) return a_left;
        return a.first > b.first;
      });
      const double step = kLeafWidth / static_cast<double>(ends.size() + 1);
      for (std::size_t i = 0; i < ends.size(); ++i)
        *ends[i].second = step * static_cast<double>(i + 1);
    }
    std::vector<std::size_t> order(wires_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto left = [&](const LegWire& wire) { return leaf_x_[wire.left] + wire.from; };
    const auto right = [&](const LegWire& wire) { return leaf_x_[wire.right] + wire.to; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return right(wires_[a]) - left(wires_[a]) < right(wires_[b]) - left(wires_[b]);
    });
    std::vector<std::vector<std::pair<double, double>>> taken;
    for (const std::size_t i : order) {
      LegWire& wire = wires_[i];
      const std::pair span(left(wire), right(wire));
      const auto free = [&](const auto& track) {
        return std::none_of(track.begin(), track.end(), [&](const auto& other) {
          return span.first < other.second + kLeafGap && other.first < span.second + kLeafGap;
        });
      };
      const auto track = std::find_if(taken.begin(), taken.end(), free);
      wire.track = static_cast<std::size_t>(track - taken.begin());
      if (track == taken.end()) taken.emplace_back();
      taken[wire.track].push_back(span);
    }
    tracks_ = taken.size();
  }

  /// Returns the look of the line between two nodes. The default shows its bandwidth.
  LinkLook LookOf(NodeIndex a, NodeIndex b, Bandwidth bandwidth, std::string title) const {
    if (look_ == nullptr)
      return {.width = LineWidth(bandwidth),
              .title = std::move(title),
              .label = GigabytesText(bandwidth)};
    const auto found = look_->lines.find(std::minmax(a, b));
    if (found == look_->lines.end())
      return {.width = 1, .color = std::string(kUnusedColor), .title = title + ", not used"};
    LinkLook look = found->second;
    look.title = title + ", " + look.title;
    return look;
  }

  const NodeFacts& FactsOf(NodeIndex node) const {
    static const NodeFacts kNothing;
    if (facts_ == nullptr) return kNothing;
    const auto found = facts_->find(node);
    return found == facts_->end() ? kNothing : found->second;
  }

  /// Returns the box of a node. The outline shows its worst defect, and the title has all remarks.
  Box BoxOf(NodeIndex node, const Extent& extent, Paint paint, std::string title) const {
    const NodeFacts& facts = FactsOf(node);
    for (const std::string& sentence : facts.sentences) title += "; " + sentence;
    Box box{
        extent.left,      extent.top, extent.right - extent.left, extent.bottom - extent.top, paint,
        std::move(title), Index(node)};
    box.outline = OutlierColor(facts.severity);
    box.dashed = facts.severity == topology::Severity::kWarning;
    return box;
  }

  static std::pair<std::uint32_t, std::uint32_t> EndsOf(NodeIndex a, NodeIndex b) {
    return std::minmax({Index(a), Index(b)});
  }

  /// Replaces the last line of a device by its note.
  void AddNote(NodeIndex device, std::vector<std::string>& lines) const {
    constexpr std::size_t kOwnLines = 2;
    if (look_ == nullptr) return;
    const auto note = look_->notes.find(device);
    if (note == look_->notes.end()) return;
    lines.resize(std::min(lines.size(), kOwnLines));
    lines.push_back(note->second);
  }

  static void Put(Drawing& drawing, double x, double y, std::string text, double size,
                  Anchor anchor, bool strong = false, bool on_line = false) {
    if (text.empty()) return;
    drawing.words.push_back({x, y, std::move(text), size, anchor, strong, on_line});
  }

  void DrawSockets(Drawing& drawing, double x, double y, double numa_y) const {
    Bandwidth low{~0u}, high{0};
    for (const Item& numa : numas_) {
      Bandwidth own{0};
      for (const topology::Link& link : graph_.at(numa.node).links)
        if (link.kind == LinkKind::kSocket) own = link.bandwidth;
      low = std::min(low, own);
      high = std::max(high, own);
      const LinkLook look = LookOf(numa.node, numa.node, own,
                                   fmt::format("{} GB/s to any other", GigabytesText(own)));
      drawing.lines.push_back(
          {{{numa.x + numa.width / 2, y + kBusHeight}, {numa.x + numa.width / 2, numa_y}},
           look.width,
           Paint::kSocketLine,
           look.title,
           look.color,
           false,
           EndsOf(numa.node, numa.node)});
      Put(drawing, numa.x + numa.width / 2 + look.width / 2 + 4, numa_y - 8, look.label, kSmallText,
          Anchor::kStart);
    }
    drawing.boxes.push_back(
        {x + kHostPad, y, width_ - 2 * kHostPad, kBusHeight, Paint::kSocketBus, {}});
    const std::string range =
        low == high ? GigabytesText(low) : GigabytesText(low) + " to " + GigabytesText(high);
    const std::string text = fmt::format("between processors: {} GB/s each pair", range);
    Put(drawing, x + width_ / 2, y + 14, Fitted(text, kSmallText, width_ - 2 * kHostPad - 8),
        kSmallText, Anchor::kMiddle);
  }

  void DrawNuma(Drawing& drawing, const Item& numa, double y, double host_y) const {
    const double bottom = host_y + leaf_y_ + (has_leaf_ ? kLeafHeight : 0) + kNumaPad;
    drawing.boxes.push_back(
        {numa.x, y, numa.width, bottom - y, Paint::kNuma, {}, Index(numa.node)});
    const double middle = numa.x + numa.width / 2;
    Put(drawing, middle, y + 16, NumaText(numa.node), kNormal, Anchor::kMiddle, true);
    Put(drawing, middle, y + 30, ModelText(graph_.cpu(numa.node)), kSmallText, Anchor::kMiddle);
    if (numa.below.empty()) return;
    drawing.lines.push_back(
        {{{numa.x + kNumaPad, y + kNumaHead}, {numa.x + numa.width - kNumaPad, y + kNumaHead}},
         2,
         Paint::kPciLine,
         "PCIe root"});
    for (const Item& child : numa.below) DrawBelow(drawing, numa, child, y + kNumaHead, 0, host_y);
  }

  /// Draws a child and its link to the parent. `top` is the lower edge of the parent.
  void DrawBelow(Drawing& drawing, const Item& parent, const Item& item, double top,
                 std::size_t level, double host_y) const {
    const double own_top = item.is_leaf ? host_y + leaf_y_ : top + kLevelGap;
    DrawLinks(drawing, parent, item, top, own_top);
    if (item.is_leaf) return DrawLeaf(drawing, item, own_top);
    const topology::SwitchFacts& facts = graph_.pci_switch(item.node);
    drawing.boxes.push_back(
        BoxOf(item.node, {item.x, own_top, item.x + item.width, own_top + kSwitchHeight},
              Paint::kSwitch, fmt::format("PCIe switch {}", ToString(facts.bus))));
    const std::string text = Fitted(ToString(facts.bus), kSmallText, item.width - 6);
    Put(drawing, item.x + item.width / 2, own_top + 14.5, text, kSmallText, Anchor::kMiddle);
    for (const Item& child : item.below)
      DrawBelow(drawing, item, child, own_top + kSwitchHeight, level + 1, host_y);
  }

  void DrawLinks(Drawing& drawing, const Item& parent, const Item& item, double top,
                 double bottom) const {
    std::vector<const topology::Link*> links;
    for (const topology::Link& link : graph_.at(item.node).links) {
      if (link.to != parent.node) continue;
      links.push_back(&link);
    }
    constexpr double kApart = 30;  // of two links to one parent; holds the number of the first
    double x = item.x + item.width / 2 - (links.size() > 1 ? kApart / 2 : 0);
    for (const topology::Link* link : links) {
      const bool c2c = link->kind == LinkKind::kC2c;
      LinkLook look =
          LookOf(item.node, parent.node, link->bandwidth,
                 fmt::format("{} {} GB/s", c2c ? "C2C" : "PCIe", GigabytesText(link->bandwidth)));
      if (link->kind == LinkKind::kPci) AddPcie(item.node, look);
      drawing.lines.push_back({{{x, top}, {x, bottom}},
                               look.width,
                               c2c ? Paint::kC2cLine : Paint::kPciLine,
                               look.title,
                               look.color,
                               false,
                               EndsOf(item.node, parent.node)});
      const double right = x + look.width / 2 + 3;
      if (look_ != nullptr || link->bandwidth < topology::kLocalLink)
        Put(drawing, right, bottom - 8, look.label, kSmallText, Anchor::kStart);
      // Two links to one parent leave no room for it.
      if (look_ == nullptr && !c2c && links.size() == 1)
        Put(drawing, right, bottom - 18, FactsOf(item.node).pcie, kSmallText, Anchor::kStart);
      x += kApart;
    }
  }

  /// Adds generation and lanes to the link above a node, and the color of its defect.
  void AddPcie(NodeIndex below, LinkLook& look) const {
    const NodeFacts& facts = FactsOf(below);
    if (!facts.pcie.empty()) look.title += ", " + facts.pcie;
    if (look_ == nullptr && facts.link_is_worst) look.color = OutlierColor(facts.severity);
  }

  void DrawLeaf(Drawing& drawing, const Item& item, double y) const {
    const bool gpu = graph_.at(item.node).kind == NodeKind::kDev;
    std::vector<std::string> lines = gpu ? GpuLines(item.node) : NicLines(item.node);
    AddNote(item.node, lines);
    constexpr double kLineStep = 14;
    constexpr std::size_t kLinesMax = 3;
    const NodeFacts& facts = FactsOf(item.node);
    if (facts.rate_is_unknown) lines.back() = "rate unknown";
    if (!facts.state.empty() && lines.size() < kLinesMax) lines.push_back(facts.state);
    std::string title;
    for (const std::string& line : lines) title += (title.empty() ? "" : ", ") + line;
    drawing.boxes.push_back(BoxOf(item.node, {item.x, y, item.x + kLeafWidth, y + kLeafHeight},
                                  gpu ? Paint::kGpu : Paint::kNic, title));
    const std::size_t shown = std::min(lines.size(), kLinesMax);
    double at = y + (kLeafHeight - kLineStep * static_cast<double>(shown)) / 2 + 10.5;
    for (std::size_t i = 0; i < shown; ++i, at += kLineStep) {
      const double size = i == 0 ? kNormal : kSmallText;
      Put(drawing, item.x + kLeafWidth / 2, at, Fitted(lines[i], size, kLeafWidth - 4), size,
          Anchor::kMiddle, i == 0);
    }
  }

  std::vector<std::string> GpuLines(NodeIndex device) const {
    std::string ranks;
    for (const topology::Link& link : graph_.at(device).links)
      if (graph_.at(link.to).kind == NodeKind::kGpu)
        ranks += fmt::format("{}{}", ranks.empty() ? "" : ",", graph_.at(link.to).number);
    const topology::DeviceFacts& facts = graph_.device(device);
    std::vector<std::string> lines = {
        "GPU " + (look_ == nullptr ? ranks : std::to_string(graph_.at(device).number)),
        ToString(facts.bus)};
    std::string architecture = ArchitectureText(facts.gcn, facts.compute_capability);
    if (!architecture.empty() && facts.half) architecture += fmt::format(", half {}", *facts.half);
    if (!architecture.empty()) lines.push_back(std::move(architecture));
    return lines;
  }

  std::vector<std::string> NicLines(NodeIndex nic) const {
    std::vector<std::string> lines;
    std::vector<std::string> speeds;
    const auto add = [&](NodeIndex port) {
      const Node& node = graph_.at(port);
      const std::string name = node.name.empty() ? fmt::format("port {}", node.number)
                                                 : Printable(node.name, kLabelBytesShown);
      if (std::find(lines.begin(), lines.end(), name) != lines.end()) return;
      lines.push_back(name);
      const std::uint32_t mbit = node.links.front().bandwidth.mb_per_s * 8;
      speeds.push_back(mbit < 1000 ? fmt::format("{} Mbit/s", mbit)
                                   : fmt::format("{} Gbit/s", mbit / 1000));
    };
    if (topology::IsPort(graph_.at(nic).kind)) add(nic);
    for (const topology::Link& link : graph_.at(nic).links)
      if (topology::IsPort(graph_.at(link.to).kind)) add(link.to);
    if (lines.empty()) return {"NIC", "no port"};
    if (lines.size() > 2) lines = {lines[0], "+ " + Counted(lines.size() - 1, "port")};
    lines.push_back(speeds[0]);
    return lines;
  }

  void DrawNvSwitch(Drawing& drawing, double x, double y) const {
    const double top = y + nvswitch_y();
    drawing.boxes.push_back({x + kHostPad, top, width_ - 2 * kHostPad, kNvSwitchHeight,
                             Paint::kNvSwitch, "NVSwitch", Index(*nvswitch_)});
    std::size_t gpus = 0;
    for (const topology::Link& link : graph_.at(*nvswitch_).links)
      gpus += link.bandwidth.mb_per_s > 0;
    const std::string text = "NVSwitch, " + Counted(gpus, "GPU");
    Put(drawing, x + width_ / 2, top + 17, Fitted(text, kNormal, width_ - 2 * kHostPad - 8),
        kNormal, Anchor::kMiddle, true);
    for (const topology::Link& link : graph_.at(*nvswitch_).links) {
      const auto at = leaf_x_.find(link.to);
      if (at == leaf_x_.end()) continue;
      const double middle = at->second + kLeafWidth / 2;
      const LinkLook look = LookOf(link.to, *nvswitch_, link.bandwidth,
                                   fmt::format("NVLink {} GB/s", GigabytesText(link.bandwidth)));
      drawing.lines.push_back({{{middle, y + leaf_y_ + kLeafHeight}, {middle, top}},
                               look.width,
                               Paint::kNvLine,
                               look.title,
                               look.color,
                               false,
                               EndsOf(link.to, *nvswitch_)});
      Put(drawing, middle + look.width / 2 + 3, top - 8, look.label, kSmallText, Anchor::kStart);
    }
  }

  /// Returns the x on the level part of a wire that is farthest from the legs of deeper wires.
  double ClearOfLegs(const LegWire& wire, double left, double right) {
    std::vector<double> legs = {left, right};
    for (const LegWire& other : wires_) {
      if (other.track <= wire.track) continue;
      for (const double x : {leaf_x_[other.left] + other.from, leaf_x_[other.right] + other.to})
        if (x > left && x < right) legs.push_back(x);
    }
    std::sort(legs.begin(), legs.end());
    double best = (left + right) / 2, width = 0;
    for (std::size_t i = 0; i + 1 < legs.size(); ++i) {
      const double gap = legs[i + 1] - legs[i];
      if (gap <= width + 1) continue;
      width = gap;
      best = (legs[i] + legs[i + 1]) / 2;
    }
    return best;
  }

  void DrawWires(Drawing& drawing, double y) {
    const double base = y + leaf_y_ + kLeafHeight;
    const double first =
        base + kNumaPad + kTracksGap + (nvswitch_ ? kNvSwitchGap + kNvSwitchHeight : 0);
    for (const LegWire& wire : wires_) {
      const double left = leaf_x_[wire.left] + wire.from, right = leaf_x_[wire.right] + wire.to;
      const double depth = first + kTrackHeight * static_cast<double>(wire.track);
      std::string text = GigabytesText(wire.out);
      if (wire.out != wire.back) text += "/" + GigabytesText(wire.back);
      const LinkLook look = LookOf(wire.left, wire.right, std::max(wire.out, wire.back),
                                   fmt::format("NVLink {} GB/s", text));
      drawing.lines.push_back({{{left, base}, {left, depth}, {right, depth}, {right, base}},
                               look.width,
                               Paint::kNvLine,
                               look.title,
                               look.color,
                               false,
                               EndsOf(wire.left, wire.right)});
      if (look_ != nullptr) text = look.label;
      Put(drawing, ClearOfLegs(wire, left, right), depth + 3, text, kSmallText, Anchor::kMiddle,
          false, true);
    }
  }

  const Graph& graph_;
  const HostNodes& host_;
  const LayoutLook* look_;
  const DrawnFacts* facts_;
  std::vector<Item> numas_;
  std::map<NodeIndex, double> leaf_x_;
  std::vector<LegWire> wires_;
  std::size_t tracks_ = 0;
  std::optional<NodeIndex> nvswitch_;
  std::size_t depth_ = 0;
  bool has_leaf_ = false;
  double width_ = 0;
  double leaf_y_ = 0;  // relative to the top of the host
};

/// Draws the legend of outlines and of the texts beside PCIe lines.
void DrawLegendOfFacts(Drawing& drawing, double y, bool has_pcie) {
  constexpr double kSample = 26, kGap = 20;
  double x = kMargin;
  const auto put = [&](std::string text, std::optional<topology::Severity> severity) {
    if (severity) {
      drawing.lines.push_back({.points = {{x, y + 12}, {x + kSample, y + 12}},
                               .width = 3,
                               .color = OutlierColor(severity),
                               .dashed = severity == topology::Severity::kWarning});
      x += kSample + 6;
    }
    const double width = TextWidth(text, kSmallText + 1);
    drawing.words.push_back({x, y + 16, std::move(text), kSmallText + 1});
    x += width + kGap;
  };
  put("error of topo check", topology::Severity::kError);
  put("warning", topology::Severity::kWarning);
  if (has_pcie) put("gen4 x16: PCIe generation, lanes", std::nullopt);
}

void DrawLegendOf(Drawing& drawing, double y, const LayoutLook& look) {
  constexpr double kSample = 26, kGap = 20;
  double x = kMargin;
  for (const LinkLook& one : look.legend) {
    drawing.lines.push_back(
        {{{x, y + 12}, {x + kSample, y + 12}}, one.width, Paint::kPciLine, {}, one.color});
    x += kSample + 6;
    drawing.words.push_back({x, y + 16, one.label, kSmallText + 1, Anchor::kStart, false, false});
    x += TextWidth(one.label, kSmallText + 1) + kGap;
  }
}

void DrawLegend(Drawing& drawing, double y, bool xgmi) {
  const std::pair<Paint, std::string_view> kinds[] = {{Paint::kPciLine, "PCIe"},
                                                      {Paint::kNvLine, xgmi ? "xGMI" : "NVLink"},
                                                      {Paint::kC2cLine, "C2C"},
                                                      {Paint::kSocketLine, "processors"}};
  constexpr double kSample = 26;
  double x = kMargin;
  const auto put = [&](std::string text, Paint paint, double width) {
    drawing.lines.push_back({{{x, y + 12}, {x + kSample, y + 12}}, width, paint, {}});
    x += kSample + 6;
    drawing.words.push_back({x, y + 16, text, kSmallText + 1, Anchor::kStart, false, false});
    x += TextWidth(text, kSmallText + 1) + 20;
  };
  const std::vector<Polyline> drawn = drawing.lines;
  for (const auto& kind : kinds)
    if (std::any_of(drawn.begin(), drawn.end(),
                    [&](const Polyline& line) { return line.paint == kind.first; }))
      put(std::string(kind.second), kind.first, 4);
  x = kMargin;
  y += 24;
  for (const std::uint32_t gb : {12u, 48u, 200u, 700u})
    put(fmt::format("{} GB/s", gb), Paint::kPciLine, LineWidth({gb * 1000}));
}

constexpr double kLegendWidth = 480;

}  // namespace

double LineWidth(Bandwidth bandwidth) {
  constexpr double kScale = 0.55, kMin = 1, kMax = 14, kMbInGb = 1000;
  if (bandwidth >= topology::kLocalLink) return kMin;  // the bandwidth is unknown
  return std::clamp(kScale * std::sqrt(bandwidth.mb_per_s / kMbInGb), kMin, kMax);
}

namespace {

/// Places hosts in rows and joins those that share NVSwitches along the left.
class TopoLayout {
 public:
  TopoLayout(const Graph& graph, const LayoutLook* look, const DrawnFacts* facts)
      : graph_(graph), look_(look), facts_(facts) {
    for (const HostNodes& host : graph.hosts()) hosts_.emplace_back(graph, host, look, facts);
    double width = 0;
    std::size_t columns = 0, widest_row = 1;
    for (const HostLayout& host : hosts_) {
      if (columns > 0 && width + host.width() > kRowWidthMax) width = 0, columns = 0;
      width += host.width() + kHostGap;
      widest_row = std::max(widest_row, ++columns);
    }
    // Makes equal rows, and the picture about as wide as a screen if the widest row allows it.
    constexpr double kAspect = 1.5;
    const double aspect = hosts_.empty() ? 1 : hosts_[0].width() / hosts_[0].height();
    const auto square = static_cast<std::size_t>(
        std::ceil(std::sqrt(static_cast<double>(hosts_.size()) / aspect * kAspect)));
    columns_ = std::clamp<std::size_t>(square, 1, widest_row);
  }

  Drawing Run(const std::string& title) {
    const bool spine =
        std::any_of(graph_.systems().begin(), graph_.systems().end(),
                    [](const auto& system) { return system.end_host - system.first_host > 1; });
    const double left = kMargin + (spine ? kSpine : 0);
    double y = kMargin + kTitleHeight, right = left + kLegendWidth;
    for (std::size_t first = 0; first < hosts_.size(); first += columns_) {
      const std::size_t end = std::min(first + columns_, hosts_.size());
      double x = left, height = 0;
      for (std::size_t i = first; i < end; ++i) {
        DrawSwitchLinks(i, i == first ? std::nullopt : std::optional(x - kHostGap), x, y);
        hosts_[i].Draw(drawing_, x, y);
        x += hosts_[i].width() + kHostGap;
        height = std::max(height, hosts_[i].height());
      }
      right = std::max(right, x - kHostGap);
      y += height + kHostGap;
    }
    DrawSpines(left - kSpine / 2);
    if (look_ == nullptr)
      DrawLegend(drawing_, y, IsAmd());
    else
      DrawLegendOf(drawing_, y, *look_);
    drawing_.width = right + kMargin;
    drawing_.height = y + kLegendHeight;
    if (facts_ != nullptr) {
      const double rows = look_ == nullptr ? kLegendRows : 1;
      DrawLegendOfFacts(drawing_, y + rows * kLegendRow, look_ == nullptr);
      drawing_.height += kLegendRow;
    }
    drawing_.words.push_back({kMargin, kMargin + 14, Fitted(title, kLarge, right - kMargin), kLarge,
                              Anchor::kStart, true, false});
    return std::move(drawing_);
  }

 private:
  bool IsAmd() const {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i)
      if (graph_.nodes()[i].kind == NodeKind::kDev && !graph_.device(NodeIndex{i}).gcn.empty())
        return true;
    return false;
  }

  struct Spine {
    double top = 0, bottom = 0;
  };

  static constexpr double kTie = 10;  // width of the line that joins NVSwitches

  /// Joins the NVSwitches of a host with those of its left neighbor, or with the spine.
  void DrawSwitchLinks(std::size_t host, std::optional<double> neighbour_end, double x, double y) {
    const std::optional<NodeIndex> node = hosts_[host].nvswitch();
    if (!node) return;
    const topology::SystemNodes& system = graph_.SystemOf(*node);
    if (system.end_host - system.first_host < 2) return;
    const double middle = y + hosts_[host].nvswitch_y() + kNvSwitchHeight / 2;
    const bool same = host > 0 && hosts_[host - 1].nvswitch() == node;
    const double from = neighbour_end ? *neighbour_end - kHostPad : x - kSpine / 2;
    if (!neighbour_end || same)
      drawing_.lines.push_back(
          {{{from, middle}, {x + kHostPad, middle}}, kTie, Paint::kNvLine, {}});
    if (neighbour_end) return;
    const auto [it, fresh] = spines_.emplace(*node, Spine{middle, middle});
    it->second.bottom = middle;
  }

  void DrawSpines(double x) {
    for (const auto& [node, spine] : spines_)
      if (spine.bottom > spine.top)
        drawing_.lines.push_back({{{x, spine.top - kTie / 2}, {x, spine.bottom + kTie / 2}},
                                  kTie,
                                  Paint::kNvLine,
                                  "NVSwitches of one NVLink domain"});
  }

  const Graph& graph_;
  const LayoutLook* look_;
  const DrawnFacts* facts_;
  std::vector<HostLayout> hosts_;
  std::size_t columns_ = 1;
  std::map<NodeIndex, Spine> spines_;
  Drawing drawing_;
};

}  // namespace

Status CheckDrawable(const Graph& graph) {
  const std::size_t nodes = graph.nodes().size();
  if (nodes > kDrawnNodesMax)
    return Error{Code::kUnsupported,
                 fmt::format("too many nodes to draw: {}; the limit is {}", nodes, kDrawnNodesMax)};
  std::size_t ends = 0;
  for (const Node& node : graph.nodes())
    for (const topology::Link& link : node.links)
      ends += node.kind == NodeKind::kDev && link.kind == LinkKind::kNvLink &&
              graph.at(link.to).kind == NodeKind::kDev;
  if (ends / 2 <= kDrawnWiresMax) return Ok();
  return Error{Code::kUnsupported,
               fmt::format("too many NVLinks between GPUs to draw: {}; the limit is {}", ends / 2,
                           kDrawnWiresMax)};
}

Drawing LayOut(const Graph& graph, const std::string& title, const LayoutLook* look,
               const DrawnFacts* facts) {
  return TopoLayout(graph, look, facts).Run(title);
}

}  // namespace ringlet::cli
