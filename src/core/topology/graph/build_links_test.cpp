#include "topology/graph/build_links.hpp"

#include <gmock/gmock.h>

#include "topo/edit/machines_for_test.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

Graph BuildOne(const HostView& view, Rules rules = Rules::kRinglet) {
  return Build({&view, 1}, {}, {.rules = rules, .gpus = GpuRanks::kAll, .unknown_net = false})
      .value();
}

/// The bandwidth of the link between the devices of two ranks. 0 without a link.
std::uint32_t Between(const Graph& graph, std::uint32_t from, std::uint32_t to) {
  const NodeIndex far = graph.gpu(graph.NodeOf(Rank{to})).device;
  for (const Link& link : graph.at(graph.gpu(graph.NodeOf(Rank{from})).device).links)
    if (link.to == far && link.kind == LinkKind::kNvLink) return link.bandwidth.mb_per_s;
  return 0;
}

TEST(BuildLinksTest, NvLinksHaveTheBandwidthOfTheirGpu) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 80).NvLink(0x12, 4).Gpu(0x12, 80).NvLink(0x11, 1);
  const Graph graph = BuildOne(machine.view);
  EXPECT_EQ(Between(graph, 0, 1), 80'000u);
  EXPECT_EQ(Between(graph, 1, 0), 20'000u);
}

TEST(BuildLinksTest, SkipsNvLinksToMissingGpusItselfAndOfCountZero) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 80).NvLink(0x11, 4).NvLink(0x77, 4).NvLink(0x12, 0).Gpu(0x12, 80);
  const Graph graph = BuildOne(machine.view);
  EXPECT_EQ(graph.at(graph.gpu(graph.NodeOf(Rank{0})).device).links.size(), 2u);
}

TEST(BuildLinksTest, NcclRulesKeepNvLinksToItselfAndOfCountZero) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 80).NvLink(0x11, 4).NvLink(0x77, 4).NvLink(0x12, 0);
  machine.Gpu(0x12, 80).NvLink(0x11, 0);
  const Graph graph = BuildOne(machine.view, Rules::kNccl);
  const NodeIndex device = graph.gpu(graph.NodeOf(Rank{0})).device;
  EXPECT_EQ(graph.at(device).links.size(), 4u) << "rank, processor, itself, the other";
  EXPECT_EQ(Between(graph, 0, 0), 80'000u);
  const Paths paths = FindPaths(graph, 0, {}).value();
  const Path path = paths.From(graph.NodeOf(Rank{0}), graph.NodeOf(Rank{1}));
  EXPECT_EQ(path.type, PathType::kNvl);
  EXPECT_EQ(path.bandwidth.mb_per_s, 0u);
}

TEST(BuildLinksTest, RefusesAnNvLinkWithoutAReverseLink) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 80).NvLink(0x12, 4).Gpu(0x12, 80);
  const Result<Graph> graph = Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll});
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.error().message, HasSubstr("device 0000:11:00.0 on host \"host\""));
  EXPECT_THAT(graph.error().message,
              HasSubstr("(nvlink) without an equal one back from device 0000:12:00.0"));
}

TEST(BuildLinksTest, AnNvSwitchExistsPerHostOrPerDomain) {
  MachineForTest a(1), b(2);
  a.Numa(0).Gpu(0x11, 90).NvSwitch(18).Gpu(0x12, 90).NvSwitch(18);
  b.Numa(0).Gpu(0x11, 90).NvSwitch(18);
  b.view.gpus[0].rank = 2;
  const auto switches = [&](bool join) {
    const std::vector<HostView> views = {a.view, b.view};
    const Graph graph = Build(views, {}, {.gpus = GpuRanks::kGiven, .join_fabrics = join}).value();
    std::size_t count = 0;
    for (const SystemNodes& system : graph.systems())
      count += graph.NodesOf(system, NodeKind::kNvs).size();
    return std::pair(graph.systems().size(), count);
  };
  EXPECT_EQ(switches(true), (std::pair<std::size_t, std::size_t>(2, 2)));
  for (auto* machine : {&a, &b})
    for (Gpu& gpu : machine->view.gpus) gpu.fabric = NvlinkFabric{{7, 8}, 1};
  EXPECT_EQ(switches(true), (std::pair<std::size_t, std::size_t>(1, 1)));
  EXPECT_EQ(switches(false), (std::pair<std::size_t, std::size_t>(2, 2)));
  b.view.gpus[0].fabric->clique = 2;
  EXPECT_EQ(switches(true), (std::pair<std::size_t, std::size_t>(2, 2)));
}

TEST(BuildLinksTest, HalvesShareTheLinksOfTheirGpu) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 100).NvSwitch(18).C2c(1'000, 10).Gpu(0x12, 100).NvSwitch(18);
  machine.view.gpus[0].mlopart = 0;
  machine.view.gpus.push_back(machine.view.gpus[0]);
  machine.view.gpus.back().mlopart = 1;
  machine.view.gpus.back().rank = 2;
  const Graph graph = BuildOne(machine.view);
  const auto nvs = graph.NodesOf(graph.systems()[0], NodeKind::kNvs);
  ASSERT_EQ(nvs.size(), 1u);
  std::vector<std::uint32_t> widths;
  for (const Link& link : graph.at(nvs[0]).links) widths.push_back(link.bandwidth.mb_per_s);
  EXPECT_EQ(widths, (std::vector<std::uint32_t>{721'800, 360'900, 360'900}));
  EXPECT_EQ(graph.NodesOf(graph.systems()[0], NodeKind::kCxb).size(), 1u);
  const Paths paths = FindPaths(graph, 0, {}).value();
  EXPECT_EQ(paths.From(graph.NodeOf(Rank{0}), paths.Of(NodeKind::kCpu)[0]),
            (Path{PathType::kC2c, {10'000}, 3}));
}

TEST(BuildLinksTest, TwoLevelsOfABroadcomSwitchAreMerged) {
  for (const auto& [upper, lower] :
       {std::pair(PciIds{0x1000, 0xc010, 0x1000, 0xa024}, PciIds{0x1000, 0xc010, 0x1000, 0xa096}),
        std::pair(PciIds{0x1000, 0xc030, 0x1000, 0x0001},
                  PciIds{0x1000, 0xc030, 0x1000, 0x1002})}) {
    MachineForTest machine;
    machine.Numa(0).Switch(0x10, upper).Switch(0x11, lower).Gpu(0x12, 80).Up();
    machine.Switch(0x13, lower).Gpu(0x14, 80);
    const Graph graph = BuildOne(machine.view);
    EXPECT_EQ(graph.NodesOf(graph.systems()[0], NodeKind::kPci).size(), 1u);
    const Paths paths = FindPaths(graph, 0, {}).value();
    EXPECT_EQ(paths.From(graph.NodeOf(Rank{0}), graph.NodeOf(Rank{1})).type, PathType::kPix);
  }
}

TEST(BuildLinksTest, PciLinksJoinSwitchesAtFullRate) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 80).Numa(1).Switch(0x20).Gpu(0x21, 80);
  machine.view.pci[0].peers = {BusId::Of(0, 0x20, 0, 0), BusId::Of(0, 0x99, 0, 0)};
  EXPECT_THAT(Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll}).error().message,
              HasSubstr("(local) without an equal one back"));
  machine.view.pci[2].peers = {BusId::Of(0, 0x10, 0, 0)};
  const Graph graph = BuildOne(machine.view);
  const Paths paths = FindPaths(graph, 0, {}).value();
  EXPECT_EQ(paths.From(graph.NodeOf(Rank{0}), graph.NodeOf(Rank{1})),
            (Path{PathType::kPxb, {48'000}, 5}));
}

TEST(BuildLinksTest, SocketLinksHaveTheBandwidthOfTheSendingProcessor) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 80).Numa(1);
  machine.view.cpu = {"riscv64", "", 0, 0, ""};
  const auto from = [&](Rules rules, std::size_t cpu) {
    const Graph graph = BuildOne(machine.view, rules);
    const NodeIndex node = graph.NodesOf(graph.systems()[0], NodeKind::kCpu)[cpu];
    for (const Link& link : graph.at(node).links)
      if (link.kind == LinkKind::kSocket) return link.bandwidth.mb_per_s;
    return 0u;
  };
  EXPECT_EQ(from(Rules::kRinglet, 0), 6'000u);
  EXPECT_EQ(from(Rules::kNccl, 0), 5'000'000u);
  machine.view.numa_nodes[1].cpu = CpuModel{"x86_64", "AuthenticAMD", 25, 1, ""};
  EXPECT_EQ(from(Rules::kRinglet, 1), 16'000u);
}

}  // namespace
}  // namespace ringlet::topology
