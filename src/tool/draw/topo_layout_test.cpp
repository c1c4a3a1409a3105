#include "tool/draw/topo_layout.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "tool/input/topo_source.hpp"
#include "tool/tool_run_for_test.hpp"
#include "tool/topo/topo_paths.hpp"
#include "topo/edit/machines_for_test.hpp"

namespace ringlet::cli {
namespace {

using topology::Graph;

Graph GraphOf(const std::vector<topology::HostView>& views) {
  return topology::Build(views, {}, {.gpus = topology::GpuRanks::kAll, .unknown_net = false})
      .value();
}

Graph GraphOfFile(const std::string& path) {
  return GraphOf({LoadTopology({.file = path, .root = {}, .synthetic = {}})->view});
}

struct TestedMachine {
  std::string name;
  Graph graph;
  DrawnFacts facts = {};
};

std::vector<TestedMachine> LoadMachines() {
  std::vector<TestedMachine> machines;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Fixture("topologies"))) {
    const std::string path = entry.path();
    if (!path.ends_with(".topo.xml")) continue;
    const auto loaded = LoadTopology({.file = path, .root = {}, .synthetic = {}});
    if (!loaded.ok()) continue;
    auto graph = topology::Build({&loaded->view, 1}, {}, {.gpus = topology::GpuRanks::kAll});
    if (!graph.ok()) continue;
    DrawnFacts facts = FactsOf(*graph, loaded->view, {});
    machines.push_back({entry.path().filename(), *std::move(graph), std::move(facts)});
  }
  EXPECT_GT(machines.size(), 25u);
  machines.push_back({"NVL72", GraphOf(topology::RackForTest(18)), {}});
  return machines;
}

/// Returns the machines of all fixtures, and a rack.
const std::vector<TestedMachine>& TestedMachines() {
  static const std::vector<TestedMachine> machines = LoadMachines();
  return machines;
}

Extent ExtentOf(const Box& box) {
  return {box.x, box.y, box.x + box.width, box.y + box.height};
}

bool IsIn(const Extent& inner, const Extent& outer) {
  return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top &&
         inner.bottom <= outer.bottom;
}

std::vector<Extent> BoxesOf(const Drawing& drawing, std::initializer_list<Paint> paints) {
  std::vector<Extent> extents;
  for (const Box& box : drawing.boxes)
    if (std::ranges::find(paints, box.paint) != paints.end()) extents.push_back(ExtentOf(box));
  return extents;
}

bool IsInOne(const Extent& inner, const std::vector<Extent>& outer) {
  return std::ranges::count_if(outer, [&](const Extent& one) { return IsIn(inner, one); }) == 1;
}

void ExpectApart(const std::vector<Extent>& extents, const std::string& name) {
  for (std::size_t i = 0; i < extents.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(extents[i].Overlaps(extents[j])) << name;
}

/// A line with two ends, one above the other.
struct Upright {
  double x, top, bottom;
};

/// Returns the vertical lines within hosts, without the legend and lines between hosts.
std::vector<Upright> UprightsOf(const Drawing& drawing) {
  std::vector<Upright> uprights;
  for (const Polyline& line : drawing.lines)
    if (line.points.size() == 2 && line.points[0].first == line.points[1].first &&
        !line.title.starts_with("NVSwitches"))
      uprights.push_back({line.points[0].first, line.points[0].second, line.points[1].second});
  return uprights;
}

/// An NVLink between two GPUs: down, along and up again.
struct Wire {
  double left, right, base, depth;
  std::string title;
};

std::vector<Wire> WiresOf(const Drawing& drawing) {
  std::vector<Wire> wires;
  for (const Polyline& line : drawing.lines) {
    if (line.points.size() != 4) continue;
    const auto& [down, along, back, up] =
        std::tie(line.points[0], line.points[1], line.points[2], line.points[3]);
    EXPECT_TRUE(down.first == along.first && back.first == up.first);
    EXPECT_TRUE(along.second == back.second && down.second == up.second);
    wires.push_back({down.first, up.first, down.second, along.second, line.title});
  }
  return wires;
}

bool HasText(const Drawing& drawing, std::string_view text) {
  return std::ranges::find(drawing.words, text, &Words::text) != drawing.words.end();
}

/// Expects that no words overlap or leave the picture, and that all have a box or a background.
void ExpectLegibleTopology(const Drawing& drawing, const std::string& name) {
  std::vector<Extent> extents;
  for (const Words& words : drawing.words) extents.push_back(ExtentOf(words));
  for (std::size_t i = 0; i < extents.size(); ++i) {
    EXPECT_GE(extents[i].left, 0) << name << ": " << drawing.words[i].text;
    EXPECT_LE(extents[i].right, drawing.width) << name << ": " << drawing.words[i].text;
    EXPECT_LE(extents[i].bottom, drawing.height) << name << ": " << drawing.words[i].text;
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(extents[i].Overlaps(extents[j]))
          << name << ": \"" << drawing.words[i].text << "\" over \"" << drawing.words[j].text
          << "\"";
  }
  for (const Box& box : drawing.boxes) {
    EXPECT_GE(box.x, 0) << name;
    EXPECT_LE(box.x + box.width, drawing.width) << name;
    EXPECT_LE(box.y + box.height, drawing.height) << name;
  }
  for (const Polyline& line : drawing.lines)
    for (const auto& [x, y] : line.points) {
      EXPECT_TRUE(x >= 0 && x <= drawing.width) << name;
      EXPECT_TRUE(y >= 0 && y <= drawing.height) << name;
    }
}

std::size_t Count(const Drawing& drawing, Paint paint) {
  const auto boxes = std::count_if(drawing.boxes.begin(), drawing.boxes.end(),
                                   [&](const Box& box) { return box.paint == paint; });
  const auto lines = std::count_if(drawing.lines.begin(), drawing.lines.end(),
                                   [&](const Polyline& line) { return line.paint == paint; });
  return static_cast<std::size_t>(boxes + lines);
}

TEST(TopoLayoutTest, NoLabelsOverlapOnAnyMachine) {
  for (const TestedMachine& machine : TestedMachines())
    ExpectLegibleTopology(LayOut(machine.graph, "A machine"), machine.name);
}

TEST(TopoLayoutTest, FactsDoNotOverlapOnAnyMachine) {
  std::size_t with_pcie = 0;
  for (const auto& [name, graph, facts] : TestedMachines()) {
    const Drawing drawing = LayOut(graph, "A machine", nullptr, &facts);
    ExpectLegibleTopology(drawing, name);
    with_pcie += HasText(drawing, "gen4 x16");
  }
  EXPECT_GT(with_pcie, 5u);
}

TEST(TopoLayoutTest, NicsShowBondsAndUnknownRates) {
  topology::HostView view =
      LoadTopology({.file = Fixture("topo-vectors/pcie4-1nic.xml"), .root = {}, .synthetic = {}})
          ->view;
  const auto has = [&](std::string_view text) {
    const Graph graph = GraphOf({view});
    const DrawnFacts facts = FactsOf(graph, view, {});
    return HasText(LayOut(graph, "a machine", nullptr, &facts), text);
  };
  EXPECT_FALSE(has("rate unknown"));
  EXPECT_FALSE(has("bond of 2"));
  view.nets[0].members = {"eth0", "eth1"};
  EXPECT_TRUE(has("bond of 2"));
  view.nets[0].speed_mbit_per_s.reset();
  EXPECT_TRUE(has("rate unknown"));
  EXPECT_FALSE(has("10 Gbit/s")) << "what is taken for it";
}

TEST(TopoLayoutTest, EachPartLiesInsideItsContainer) {
  for (const auto& [name, graph, facts] : TestedMachines()) {
    const Drawing drawing = LayOut(graph, name);
    const auto hosts = BoxesOf(drawing, {Paint::kHost}), numas = BoxesOf(drawing, {Paint::kNuma});
    const auto devices = BoxesOf(drawing, {Paint::kGpu, Paint::kNic, Paint::kSwitch});
    EXPECT_EQ(hosts.size(), graph.hosts().size()) << name;
    const auto nodes =
        std::ranges::count(graph.nodes(), topology::NodeKind::kCpu, &topology::Node::kind);
    EXPECT_EQ(numas.size(), static_cast<std::size_t>(nodes)) << name;
    for (const auto* siblings : {&hosts, &numas, &devices}) ExpectApart(*siblings, name);
    for (const Extent& numa : numas) EXPECT_TRUE(IsInOne(numa, hosts)) << name;
    for (const Extent& device : devices) EXPECT_TRUE(IsInOne(device, numas)) << name;
    for (const Extent& across : BoxesOf(drawing, {Paint::kNvSwitch, Paint::kSocketBus})) {
      const auto host = std::ranges::find_if(hosts, [&](auto& one) { return IsIn(across, one); });
      ASSERT_NE(host, hosts.end()) << name;
      EXPECT_NEAR(across.left - host->left, host->right - across.right, 1e-6) << name;
    }
  }
}

/// Returns true if a line can start here: at the edge below a box, or at a NUMA node's root of
/// PCIe.
bool Carries(const Drawing& drawing, double x, double y) {
  const auto near = [&](double other) { return std::abs(other - y) < 1e-6; };
  const bool box = std::ranges::any_of(drawing.boxes, [&](const Box& one) {
    return one.paint != Paint::kHost && near(one.y + one.height) && one.x <= x &&
           x <= one.x + one.width;
  });
  return box || std::ranges::any_of(drawing.lines, [&](const Polyline& line) {
           return line.title == "PCIe root" && near(line.points[0].second) &&
                  line.points[0].first <= x && x <= line.points[1].first;
         });
}

TEST(TopoLayoutTest, LinesEndAtPartsAndEveryPartIsConnected) {
  for (const auto& [name, graph, facts] : TestedMachines()) {
    const Drawing drawing = LayOut(graph, name);
    const std::vector<Upright> lines = UprightsOf(drawing);
    for (const Upright& line : lines) {
      EXPECT_TRUE(Carries(drawing, line.x, line.top)) << name << ": at " << line.x;
      EXPECT_LT(line.top, line.bottom) << name;
    }
    for (const Box& box : drawing.boxes) {
      const bool hangs = std::ranges::any_of(lines, [&](const Upright& line) {
        return std::abs(line.bottom - box.y) < 1e-6 && box.x <= line.x &&
               line.x <= box.x + box.width;
      });
      if (box.paint == Paint::kGpu || box.paint == Paint::kNic || box.paint == Paint::kSwitch) {
        EXPECT_TRUE(hangs) << name << ": " << box.title;
      }
    }
    for (const Polyline& line : drawing.lines)
      if (line.title == "PCIe root") {
        const auto& [from, to] = std::tie(line.points[0], line.points[1]);
        EXPECT_TRUE(IsInOne({from.first, from.second, to.first, to.second},
                            BoxesOf(drawing, {Paint::kNuma})))
            << name;
      }
  }
}

TEST(TopoLayoutTest, TheSpeedOfALineStandsRightOfIt) {
  std::size_t seen = 0;
  for (const auto& [name, graph, facts] : TestedMachines()) {
    const Drawing drawing = LayOut(graph, name);
    for (const Polyline& line : drawing.lines) {
      const auto& [from, to] = std::tie(line.points.front(), line.points.back());
      const bool has_speed = line.title.find(" GB/s") != std::string::npos;
      if (line.points.size() != 2 || from.first != to.first || !has_speed) continue;
      if (line.title.find("5000") != std::string::npos) continue;  // the bandwidth is unknown
      const double edge = from.first + line.width / 2;
      EXPECT_TRUE(
          std::ranges::any_of(drawing.words,
                              [&, top = from.second, bottom = to.second](const Words& words) {
                                return words.anchor == Anchor::kStart && words.x > edge &&
                                       words.x < edge + 8 && words.y > top && words.y < bottom &&
                                       line.title.find(words.text) != std::string::npos;
                              }))
          << name << ": " << line.title;
      ++seen;
    }
  }
  EXPECT_GT(seen, 500u);
}

TEST(TopoLayoutTest, LinksBetweenGpusHaveTheirVendorsName) {
  const auto called = [](const std::string& file, std::string_view name) {
    return HasText(LayOut(GraphOfFile(Fixture(file)), "eight"), name);
  };
  EXPECT_TRUE(called("topologies/amd/topo_8p_942.topo.xml", "xGMI"));
  EXPECT_FALSE(called("topologies/amd/topo_8p_942.topo.xml", "NVLink"));
  EXPECT_TRUE(called("topologies/nvidia/ucb_dgx1v.topo.xml", "NVLink"));
  EXPECT_FALSE(called("topologies/nvidia/ucb_dgx1v.topo.xml", "xGMI"));
}

TEST(TopoLayoutTest, NumbersBesideLinesHaveOneHeight) {
  for (const auto& [name, graph, facts] : TestedMachines()) {
    const Drawing drawing = LayOut(graph, name);
    std::set<double> heights;
    for (const Upright& line : UprightsOf(drawing))
      for (const Words& words : drawing.words)
        if (words.anchor == Anchor::kStart && words.x > line.x && words.x < line.x + 14 &&
            words.y > line.top && words.y < line.bottom)
          heights.insert(std::round(line.bottom - words.y));
    EXPECT_LE(heights.size(), 1u) << name;
  }
}

TEST(TopoLayoutTest, WiresOfOneDepthDoNotMeetAndLieBelowTheGpus) {
  std::size_t seen = 0;
  for (const auto& [name, graph, facts] : TestedMachines()) {
    const Drawing drawing = LayOut(graph, name);
    const std::vector<Wire> wires = WiresOf(drawing);
    const auto hosts = BoxesOf(drawing, {Paint::kHost});
    const auto devices = BoxesOf(drawing, {Paint::kGpu, Paint::kNic});
    std::map<std::pair<double, double>, std::vector<double>> legs;  // by device
    for (const Wire& one : wires) {
      EXPECT_LT(one.left, one.right) << name;
      EXPECT_TRUE(IsInOne({one.left, one.base, one.right, one.depth}, hosts)) << name;
      for (const Extent& device : devices) EXPECT_GT(one.depth, device.bottom) << name;
      for (const double x : {one.left, one.right}) {
        const auto device = std::ranges::find_if(devices, [&](const Extent& extent) {
          return extent.left < x && x < extent.right && std::abs(extent.bottom - one.base) < 1e-6;
        });
        ASSERT_NE(device, devices.end()) << name;
        legs[{device->left, device->bottom}].push_back(x - device->left);
      }
      for (const Wire& other : wires)
        if (&other != &one && other.depth == one.depth) {
          EXPECT_TRUE(other.right < one.left || one.right < other.left) << name;
        }
      ++seen;
    }
    for (auto& [device, xs] : legs) {
      std::ranges::sort(xs);
      for (std::size_t i = 1; i < xs.size(); ++i)
        EXPECT_NEAR(xs[i] - xs[i - 1], xs[0], 1e-6) << name << ": legs stand evenly";
    }
  }
  EXPECT_GT(seen, 50u);
}

TEST(TopoLayoutTest, ACrossingWireDoesNotCoverANumber) {
  topology::MachineForTest machine;
  machine.Numa(0).Gpu(1, 80).NvLink(3, 2).Gpu(2, 80).NvLink(4, 2).Gpu(3, 80).NvLink(1, 2);
  machine.Gpu(4, 80).NvLink(2, 2);
  const Drawing drawing = LayOut(GraphOf({machine.view}), "two that cross");
  const std::vector<Wire> wires = WiresOf(drawing);
  ASSERT_EQ(wires.size(), 2u);
  for (const Wire& wire : wires) EXPECT_EQ(wire.title, "NVLink 40 GB/s") << "each way the same";
  for (const Words& words : drawing.words) {
    if (!words.on_line) continue;
    const Extent extent = ExtentOf(words);
    for (const Wire& wire : wires)
      for (const double leg : {wire.left, wire.right})
        EXPECT_FALSE(extent.Overlaps({leg - 1, wire.base, leg + 1, wire.depth}));
  }
}

TEST(TopoLayoutTest, TheNumberOfAnUncrossedWireIsInItsMiddle) {
  topology::MachineForTest machine;  // the short wires end above the long one
  machine.Numa(0).Gpu(1, 80).NvLink(2, 2).NvLink(4, 4).Gpu(2, 80).NvLink(1, 2).Gpu(3, 80);
  machine.Gpu(4, 80).NvLink(1, 4);
  const Drawing drawing = LayOut(GraphOf({machine.view}), "one over the other");
  std::vector<Wire> wires = WiresOf(drawing);
  ASSERT_EQ(wires.size(), 2u);
  for (const Wire& wire : wires)
    EXPECT_EQ(std::ranges::count_if(drawing.words,
                                    [&](const Words& words) {
                                      return words.on_line &&
                                             words.x == (wire.left + wire.right) / 2 &&
                                             "NVLink " + words.text + " GB/s" == wire.title;
                                    }),
              1)
        << wire.title;
}

TEST(TopoLayoutTest, ASpineJoinsTheRowsOfARack) {
  const Drawing drawing = LayOut(GraphOf(topology::RackForTest(18)), "NVL72");
  const auto spine = std::ranges::find_if(
      drawing.lines, [](const Polyline& line) { return line.title.starts_with("NVSwitches"); });
  ASSERT_NE(spine, drawing.lines.end());
  const auto [top, bottom] = std::pair(spine->points.at(0), spine->points.at(1));
  EXPECT_EQ(top.first, bottom.first);
  std::vector<double> heights;
  for (const Polyline& line : drawing.lines) {
    if (line.paint != Paint::kNvLine || line.points.size() != 2 || &line == &*spine) continue;
    if (line.points[0].second == line.points[1].second && line.points[0].first == top.first)
      heights.push_back(line.points[0].second);
  }
  std::set<double> rows;
  for (const Extent& host : BoxesOf(drawing, {Paint::kHost})) rows.insert(host.top);
  EXPECT_EQ(heights.size(), rows.size()) << "one from each row";
  EXPECT_NEAR(std::ranges::min(heights) - top.second, spine->width / 2, 1e-6);
  EXPECT_NEAR(bottom.second - std::ranges::max(heights), spine->width / 2, 1e-6);
}

TEST(TopoLayoutTest, TheDrawingTiesSwitchesOfTwoHosts) {
  const Drawing drawing = LayOut(GraphOf(topology::RackForTest(2)), "two");
  EXPECT_EQ(std::ranges::count_if(drawing.lines,
                                  [](const Polyline& line) {
                                    return line.paint == Paint::kNvLine && line.title.empty();
                                  }),
            2 + 1)
      << "of each switch, and the legend";
}

TEST(TopoLayoutTest, ASwitchOfOneHostIsUntied) {
  const Drawing drawing = LayOut(GraphOfFile(Fixture("topo-vectors/nvswitch8-sm90.xml")), "one");
  EXPECT_EQ(Count(drawing, Paint::kNvSwitch), 1u);
  EXPECT_EQ(Count(drawing, Paint::kNvLine), 8u + 1u) << "of each GPU, and the legend";
}

TEST(TopoLayoutTest, ARackOf72GpusIsLegibleAndJoined) {
  const Drawing drawing = LayOut(GraphOf(topology::RackForTest(18)), "NVL72");
  ExpectLegibleTopology(drawing, "NVL72");
  EXPECT_EQ(Count(drawing, Paint::kGpu), 72u);
  EXPECT_EQ(Count(drawing, Paint::kHost), 18u);
  EXPECT_EQ(Count(drawing, Paint::kNvSwitch), 18u);
  EXPECT_EQ(Count(drawing, Paint::kNvLine), 72u + 18u + 1u + 1u);  // GPUs, ties, spine, legend
  EXPECT_GT(drawing.width, drawing.height);
}

TEST(TopoLayoutTest, ACubeMeshHasAWireForEachPair) {
  const Drawing drawing =
      LayOut(GraphOfFile(Fixture("topologies/nvidia/ucb_dgx1v.topo.xml")), "DGX-1");
  EXPECT_EQ(Count(drawing, Paint::kGpu), 8u);
  EXPECT_EQ(Count(drawing, Paint::kNvLine), 16u + 1u);
  EXPECT_EQ(Count(drawing, Paint::kNvSwitch), 0u);
}

TEST(TopoLayoutTest, DrawsEachPartOnceAndWithoutOverlap) {
  const Drawing drawing =
      LayOut(GraphOfFile(Fixture("topologies/nvidia/dgx_a100_keysight.topo.xml")), "DGX A100");
  std::vector<Extent> devices;
  for (const Box& box : drawing.boxes)
    if (box.paint == Paint::kGpu || box.paint == Paint::kNic || box.paint == Paint::kSwitch)
      devices.push_back({box.x, box.y, box.x + box.width, box.y + box.height});
  EXPECT_GT(devices.size(), 20u);
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(devices[i].Overlaps(devices[j]));
}

TEST(TopoLayoutTest, AGpuShowsItsRankAddressAndKind) {
  topology::MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 90).Gpu(0x12, 0);
  const Drawing drawing = LayOut(GraphOf({machine.view}), "two");
  std::vector<std::string> titles;
  for (const Box& box : drawing.boxes)
    if (box.paint == Paint::kGpu) titles.push_back(box.title);
  EXPECT_THAT(titles, testing::ElementsAre("GPU 0, 0000:11:00.0, sm 90", "GPU 1, 0000:12:00.0"));
  for (const char* text : {"GPU 0", "GPU 1", "0000:11:00.0", "sm 90", "NUMA node 0"})
    EXPECT_TRUE(HasText(drawing, text)) << text;
}

TEST(TopoLayoutTest, ShowsTheBandwidthBetweenProcessors) {
  topology::MachineForTest machine;
  machine.Numa(0).Gpu(1, 80).Gpu(2, 80).Numa(1).Gpu(3, 80).Gpu(4, 80);
  const Graph graph = GraphOf({machine.view});
  const auto numa =
      std::ranges::find(graph.nodes(), topology::NodeKind::kCpu, &topology::Node::kind);
  ASSERT_NE(numa, graph.nodes().end());
  const auto link =
      std::ranges::find(numa->links, topology::LinkKind::kSocket, &topology::Link::kind);
  ASSERT_NE(link, numa->links.end());
  EXPECT_TRUE(HasText(LayOut(graph, "two"),
                      "between processors: " + GigabytesText(link->bandwidth) + " GB/s each pair"));
}

TEST(TopoLayoutTest, TheLegendShowsExistingLinesWithTheirWidths) {
  const Drawing drawing =
      LayOut(GraphOfFile(Fixture("topo-vectors/nvswitch8-sm90.xml")), "eight on switches");
  for (const char* text : {"PCIe", "NVLink", "processors", "12 GB/s", "700 GB/s"}) {
    const auto words = std::ranges::find(drawing.words, text, &Words::text);
    ASSERT_NE(words, drawing.words.end()) << text;
    const Extent extent = ExtentOf(*words);
    EXPECT_EQ(std::ranges::count_if(drawing.lines,
                                    [&](const Polyline& line) {
                                      const auto& [from, to] =
                                          std::tie(line.points[0], line.points.back());
                                      return from.first < to.first && to.first < extent.left &&
                                             to.first > extent.left - 10 &&
                                             from.second > extent.top &&
                                             from.second < extent.bottom;
                                    }),
              1)
        << text << ": one sample before it";
  }
  EXPECT_FALSE(HasText(drawing, "C2C"));
}

TEST(TopoLayoutTest, ManyHostsStandInRowsOfLimitedWidth) {
  std::vector<topology::HostView> views;
  for (std::uint32_t host = 0; host < 300; ++host) {
    topology::MachineForTest machine(host + 1, "n" + std::to_string(host));
    machine.Numa(0).Gpu(1, 80);
    machine.view.gpus.back().rank = host;
    views.push_back(std::move(machine.view));
  }
  const Drawing drawing = LayOut(GraphOf(views), "many");
  const auto hosts = BoxesOf(drawing, {Paint::kHost});
  ASSERT_EQ(hosts.size(), 300u);
  ExpectApart(hosts, "many");
  EXPECT_LE(drawing.width, 2800 + 100);  // includes the margins
  EXPECT_GT(drawing.width, 2000);
}

TEST(TopoLayoutTest, RefusesAnIllegiblePicture) {
  topology::MachineForTest machine;
  machine.Numa(0);
  for (std::uint8_t gpu = 0; gpu < 100; ++gpu) {
    machine.Gpu(gpu, 80);
    for (std::uint8_t other = 0; other < 100; ++other)
      if (other != gpu) machine.NvLink(other, 1);
  }
  const Status drawable = CheckDrawable(GraphOf({machine.view}));
  ASSERT_FALSE(drawable.ok());
  EXPECT_THAT(drawable.error().message,
              testing::HasSubstr("too many NVLinks between GPUs to draw: 4950"));
  EXPECT_TRUE(CheckDrawable(GraphOf(topology::RackForTest(18))).ok());
}

TEST(TopoLayoutTest, WiderLinesAreFaster) {
  EXPECT_LT(LineWidth({12'000}), LineWidth({48'000}));
  EXPECT_LT(LineWidth({48'000}), LineWidth({721'800}));
  EXPECT_EQ(LineWidth({1}), 1);
  EXPECT_EQ(LineWidth(topology::kLocalLink), 1);  // the bandwidth is unknown
}

TEST(TopoLayoutTest, DrawsAMachineWithoutGpus) {
  topology::MachineForTest machine;
  machine.Numa(0);
  ExpectLegibleTopology(LayOut(GraphOf({machine.view}), "small"), "small");
}

}  // namespace
}  // namespace ringlet::cli
