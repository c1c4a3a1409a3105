#include "topology/graph/build_tree.hpp"

#include <gmock/gmock.h>

#include "topo/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

Graph BuildTreeOf(const HostView& view, Rules rules = Rules::kRinglet) {
  return Build({&view, 1}, {}, {.rules = rules, .gpus = GpuRanks::kAll, .unknown_net = false})
      .value();
}

std::string TreeErrorOf(const std::vector<HostView>& views, GpuRanks gpus = GpuRanks::kAll) {
  const Result<Graph> graph = Build(views, {}, {.gpus = gpus});
  return graph.ok() ? "no error" : graph.error().message;
}

TEST(BuildTreeTest, SwitchesDevicesAndPortsFollowTheView) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 90).Nic(0x12, 400'000);
  EXPECT_EQ(ToText(BuildTreeOf(machine.view)),
            "ringlet-graph 1\n"
            "host \"host\"\n"
            "  gpu 0\n"
            "    local 5000000 MB/s to device 0000:11:00.0\n"
            "  switch 0000:10:00.0\n"
            "    pci 48000 MB/s to device 0000:11:00.0\n"
            "    pci 48000 MB/s to nic 12000\n"
            "    pci 48000 MB/s to numa 0\n"
            "  numa 0\n"
            "    pci 48000 MB/s to switch 0000:10:00.0\n"
            "  nic 12000\n"
            "    network 50000 MB/s to net \"mlx5_0\"\n"
            "    pci 48000 MB/s to switch 0000:10:00.0\n"
            "  net \"mlx5_0\"\n"
            "    network 50000 MB/s to nic 12000\n"
            "  device 0000:11:00.0\n"
            "    local 5000000 MB/s to gpu 0\n"
            "    pci 48000 MB/s to switch 0000:10:00.0\n");
}

TEST(BuildTreeTest, NicsWithoutASlotStayOnTheirNumaNodeExceptByNcclRules) {
  MachineForTest machine;
  machine.Numa(0).NicOnNuma(100'000).Numa(1).Gpu(0x11, 80).NicOnNuma(100'000);
  const auto nics = [&](Rules rules) {
    const Graph graph = BuildTreeOf(machine.view, rules);
    return graph.NodesOf(graph.systems()[0], NodeKind::kNic).size();
  };
  EXPECT_EQ(nics(Rules::kRinglet), 2u);
  EXPECT_EQ(nics(Rules::kNccl), 1u);
}

TEST(BuildTreeTest, PortsKeepTheOrderOfTheFile) {
  MachineForTest machine;
  machine.Numa(0).Nic(0x11, 100'000).NicOnNuma(100'000).Nic(0x12, 100'000);
  std::vector<std::string> names;
  const Graph graph = BuildTreeOf(machine.view);
  for (const NodeIndex net : graph.NodesOf(graph.systems()[0], NodeKind::kNet))
    names.push_back(graph.at(net).name);
  EXPECT_EQ(names, (std::vector<std::string>{"mlx5_0", "mlx5_1", "mlx5_2"}));
}

TEST(BuildTreeTest, RanksOnASingleGpuShareItsDevice) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 90);
  machine.view.gpus.push_back(machine.view.gpus.front());
  machine.view.gpus.back().rank = 4;
  const Graph graph = BuildTreeOf(machine.view);
  EXPECT_EQ(graph.NodesOf(graph.systems()[0], NodeKind::kDev).size(), 1u);
  EXPECT_EQ(graph.gpu(graph.NodeOf(Rank{0})).device, graph.gpu(graph.NodeOf(Rank{4})).device);
  EXPECT_EQ(NcclName(graph, graph.NodeOf(Rank{4})), "GPU/0-10000011000");
}

TEST(BuildTreeTest, HalvesOfAGpuAreTwoDevices) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 100);
  machine.view.gpus.front().mlopart = 0;
  machine.view.gpus.push_back(machine.view.gpus.front());
  machine.view.gpus.back().mlopart = 1;
  machine.view.gpus.back().rank = 1;
  const Graph graph = BuildTreeOf(machine.view);
  const auto devices = graph.NodesOf(graph.systems()[0], NodeKind::kDev);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(NcclName(graph, devices[1]), "DEV/0-11003");
  EXPECT_EQ(graph.at(devices[0]).links[1].to, devices[1]);
  EXPECT_EQ(graph.at(devices[0]).links[1].bandwidth, kSplitGpuLink);
  machine.view.gpus.back().mlopart = 2;
  EXPECT_THAT(TreeErrorOf({machine.view}), HasSubstr("part 2"));
}

TEST(BuildTreeTest, GpusWithoutARankAreSkippedOrNumbered) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 90).Gpu(0x12, 90).Gpu(0x13, 90);
  machine.view.gpus[0].rank.reset();
  machine.view.gpus[1].rank = 0;
  machine.view.gpus[2].rank.reset();
  const auto ranks = [&](GpuRanks gpus) {
    return Build({&machine.view, 1}, {}, {.gpus = gpus}).value().rank_count();
  };
  EXPECT_EQ(ranks(GpuRanks::kGiven), 1u);
  EXPECT_EQ(ranks(GpuRanks::kAll), 3u);
  const Graph graph = BuildTreeOf(machine.view);
  EXPECT_EQ(graph.at(Rank{1}).id, BusId::Of(0, 0x11, 0, 0).value);
}

TEST(BuildTreeTest, ErrorsNameDuplicateParts) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 90).Gpu(0x11, 90);
  EXPECT_THAT(TreeErrorOf({machine.view}),
              HasSubstr("ranks 0 and 1 of host \"host\" are on two GPUs with the same address "
                        "0000:11:00.0"));
  MachineForTest other;
  other.Numa(0).Gpu(0x11, 90).Gpu(0x12, 90);
  other.view.gpus[1].rank = 0;
  EXPECT_THAT(TreeErrorOf({other.view}), HasSubstr("rank 0 is claimed by GPU 0000:11:00.0 of host "
                                                   "\"host\" and by GPU 0000:12:00.0"));
}

TEST(BuildTreeTest, NcclRulesMergeGpusWithTheSameAddress) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 90).Gpu(0x11, 90);
  const Graph graph = BuildTreeOf(machine.view, Rules::kNccl);
  EXPECT_EQ(graph.gpu(graph.NodeOf(Rank{0})).device, graph.gpu(graph.NodeOf(Rank{1})).device);
}

TEST(BuildTreeTest, HostsOfAMergedViewFormASingleSystem) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 100).Numa(0).Gpu(0x11, 100);
  machine.view.numa_nodes[1].host = 2;
  const Graph graph = BuildTreeOf(machine.view);
  EXPECT_EQ(graph.hosts().size(), 2u);
  EXPECT_EQ(graph.systems().size(), 1u);
  EXPECT_EQ(NcclName(graph, graph.NodeOf(Rank{1})), "GPU/1-11000");
  EXPECT_EQ(NameOnHost(graph, graph.NodeOf(Rank{1})), "GPU/0-11000");
}

TEST(BuildTreeTest, PortsOfOtherInterfacesHaveTheirOwnNodes) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 90).Nic(0x12, 400'000).Nic(0x13, 400'000);
  machine.view.nets[0].gin_api = true;
  machine.view.nets[0].rma_api = true;
  machine.view.nets[0].net_api = false;
  machine.view.nets[1].dev.reset();
  const auto count = [&](NodeKind kind, Rules rules) {
    const Graph graph = BuildTreeOf(machine.view, rules);
    return graph.NodesOf(graph.systems()[0], kind).size();
  };
  EXPECT_EQ(count(NodeKind::kGin, Rules::kNccl), 1u);
  EXPECT_EQ(count(NodeKind::kRma, Rules::kNccl), 1u);
  EXPECT_EQ(count(NodeKind::kNet, Rules::kNccl), 0u);
  EXPECT_EQ(count(NodeKind::kNet, Rules::kRinglet), 1u);
}

TEST(BuildTreeTest, APortHasTheAttributesOfTheView) {
  MachineForTest machine;
  machine.Numa(0).Nic(0x11, 100'000).Nic(0x12, 100'000);
  NetInterface& told = machine.view.nets[0];
  told.guid = 0x1234;
  told.port = 2;
  told.latency_ns = 700;
  told.max_connections = 128;
  told.collective = true;
  told.rail = 3;
  told.plane = 4;
  machine.view.nets[1].gdr.reset();
  const Graph graph = BuildTreeOf(machine.view);
  const auto nets = graph.NodesOf(graph.systems()[0], NodeKind::kNet);
  const NetFacts& facts = graph.net(nets.at(0));
  EXPECT_EQ(facts.chip, 0x1234u);
  EXPECT_EQ(facts.slot, BusId::Of(0, 0x11, 0, 0).value);
  EXPECT_EQ(facts.port, 2u);
  EXPECT_EQ(facts.latency_ns, 700u);
  EXPECT_EQ(facts.max_connections, 128u);
  EXPECT_TRUE(facts.gdr && facts.collective);
  EXPECT_EQ(facts.rail, 3u);
  EXPECT_EQ(facts.plane, 4u);
  const NetFacts& bare = graph.net(nets.at(1));
  EXPECT_NE(bare.chip, facts.chip);
  EXPECT_EQ(bare.port, 0u);
  EXPECT_EQ(bare.latency_ns, 0u);
  EXPECT_EQ(bare.max_connections, 64u);
  EXPECT_FALSE(bare.gdr || bare.collective || bare.rail || bare.plane);
}

}  // namespace
}  // namespace ringlet::topology
