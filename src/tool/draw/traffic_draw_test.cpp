#include "tool/draw/traffic_draw.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tool/emulate/traffic_for_test.hpp"
#include "topo/edit/synthetic.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

topology::HostView MachineForTraffic() {
  return topology::ParseSynthetic("2x(numa: (switch: 2 gpu a100-sxm4 switch, 1 nic 200g))").value();
}

/// Names of links on the machine.
struct NamesOnMachine {
  std::vector<std::string> gpus, switches, processors, nics, ports;
  std::string nvswitch;

  NamesOnMachine() {
    const auto view = MachineForTraffic();
    const auto graph = topology::Build({&view, 1}, {}, {.gpus = topology::GpuRanks::kAll}).value();
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      const topology::NodeIndex node{i};
      const std::string name = NameOnHost(graph, node);
      switch (graph.at(node).kind) {
        case topology::NodeKind::kDev: gpus.push_back(name); break;
        case topology::NodeKind::kPci: switches.push_back(name); break;
        case topology::NodeKind::kCpu: processors.push_back(name); break;
        case topology::NodeKind::kNic: nics.push_back(name); break;
        case topology::NodeKind::kNet: ports.push_back(name); break;
        case topology::NodeKind::kNvs: nvswitch = name; break;
        default: break;
      }
    }
  }
};

/// Returns a report with two hosts, each with one rank.
TrafficReport ReportWith(std::vector<LinkTraffic> links) {
  TrafficReport report;
  report.hosts = {{"a", "1"}, {"b", "2"}};
  const NamesOnMachine names;
  report.communicators = {{.communicator = "c",
                           .ranks = 2,
                           .by_rank = {{0, 0, names.gpus[1], 0}, {1, 1, names.gpus[3], 0}}}};
  std::ranges::stable_sort(links, std::greater<>(), &LinkTraffic::time_us);
  report.links = std::move(links);
  return report;
}

LinkTraffic Carried(std::uint32_t host, std::string from, std::string to, std::uint64_t bytes) {
  return {.host = host,
          .from = std::move(from),
          .to = std::move(to),
          .kind = "NVL",
          .mb_per_s = 1000,
          .measured_bytes = bytes,
          .planned_bytes = bytes};
}

std::vector<Polyline> Titled(const Drawing& drawing, std::string_view text) {
  std::vector<Polyline> found;
  std::ranges::copy_if(drawing.lines, std::back_inserter(found), [&](const Polyline& line) {
    return line.title.find(text) != std::string::npos;
  });
  return found;
}

std::size_t CountOfWords(const Drawing& drawing, std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(drawing.words, text, &Words::text));
}

TEST(TrafficDrawTest, LineWidthFollowsTheBusierDirection) {
  const NamesOnMachine names;
  const TrafficReport report = ReportWith({Carried(0, names.gpus[0], names.nvswitch, 8'000'000),
                                           Carried(0, names.nvswitch, names.gpus[0], 2'000'000),
                                           Carried(1, names.gpus[2], names.nvswitch, 4'000'000)});
  const Drawing drawing = DrawTraffic(report, MachineForTraffic(), "run").value();
  const auto both = Titled(drawing, "8.00 MB"),
             half = Titled(drawing, names.nvswitch + " to " + names.gpus[2] + " 0 B, back 4.00 MB");
  ASSERT_EQ(both.size(), 1u);
  ASSERT_EQ(half.size(), 1u);
  EXPECT_THAT(both[0].title, AllOf(HasSubstr("NVLink 240 GB/s"), HasSubstr("2.00 MB")));
  EXPECT_DOUBLE_EQ(both[0].width, 2 * half[0].width);
  EXPECT_NE(both[0].color, half[0].color) << "one takes the longest, the other half of that";
  EXPECT_EQ(CountOfWords(drawing, "8.00 MB"), 2u) << "beside the line, and in the legend";
}

TEST(TrafficDrawTest, UnusedLinksAreThinAndUnnumbered) {
  const NamesOnMachine names;
  const Drawing drawing = DrawTraffic(ReportWith({Carried(0, names.gpus[0], names.nvswitch, 100)}),
                                      MachineForTraffic(), "run")
                              .value();
  const auto unused = Titled(drawing, "not used");
  EXPECT_GT(unused.size(), 10u);
  for (const Polyline& line : unused) EXPECT_EQ(line.width, 1) << line.title;
  for (const Words& words : drawing.words) EXPECT_NE(words.text, "240");
}

TEST(TrafficDrawTest, NamesHostsGpusAndNics) {
  const NamesOnMachine names;
  const Drawing drawing = DrawTraffic(ReportWith({Carried(1, names.nics[0], names.ports[0], 3000),
                                                  Carried(1, names.ports[0], names.nics[0], 1000),
                                                  Carried(0, names.ports[1], names.nics[1], 7000)}),
                                      MachineForTraffic(), "run")
                              .value();
  for (const char* const text :
       {"run", "host 0: a", "host 1: b", "rank 0", "rank 1", "3.00 kB out", "7.00 kB in"})
    EXPECT_EQ(CountOfWords(drawing, text), 1u) << text;
  EXPECT_EQ(CountOfWords(drawing, "GPU 0"), 2u) << "of each host";
}

TEST(TrafficDrawTest, TheLineBetweenProcessorsSumsTheirBytes) {
  const NamesOnMachine names;
  const Drawing drawing =
      DrawTraffic(ReportWith({Carried(0, names.processors[0], names.processors[1], 5000)}),
                  MachineForTraffic(), "run")
          .value();
  EXPECT_EQ(Titled(drawing, "to any other, 5.00 kB out, 0 B in").size(), 1u);
  EXPECT_EQ(Titled(drawing, "to any other, 0 B out, 5.00 kB in").size(), 1u);
}

TEST(TrafficDrawTest, RefusesTrafficOfAnotherMachine) {
  const auto drawn =
      DrawTraffic(ReportWith({Carried(0, "DEV/0-ffff", "NVS/0-0", 1)}), MachineForTraffic(), "run");
  ASSERT_FALSE(drawn.ok());
  EXPECT_THAT(drawn.error().message, HasSubstr("the machine lacks DEV/0-ffff"));
}

TEST(TrafficDrawTest, RefusesTooManyHosts) {
  TrafficReport report = ReportWith({});
  report.hosts.resize(5000, {"x", "y"});
  EXPECT_EQ(DrawTraffic(report, MachineForTraffic(), "run").error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace ringlet::cli
