#include "topology/paths/access.hpp"

#include <gmock/gmock.h>

#include "topo/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

Graph AccessGraph(const HostView& view) {
  return Build({&view, 1}, {}, {.gpus = GpuRanks::kAll, .unknown_net = false}).value();
}

/// Returns true if rank 0 may write to rank 1.
bool Allowed(const HostView& view, const PathOptions& options) {
  const Graph graph = AccessGraph(view);
  PathOptions raw;
  raw.p2p_level = PathType::kSys;
  const Paths paths = FindPaths(graph, 0, raw).value();
  return Access(paths, options).Peer(graph.NodeOf(Rank{0}), graph.NodeOf(Rank{1}))->allowed;
}

HostView AcrossSwitches(std::string vendor) {
  MachineForTest machine;
  machine.view.cpu = {"x86_64", std::move(vendor), 25, 1, ""};
  machine.Numa(0).Switch(0x10).Gpu(0x11, 80).Up().Switch(0x20).Gpu(0x21, 80);
  return machine.view;
}

TEST(AccessTest, TheLevelAndTheProcessorDecideOnPeerAccess) {
  EXPECT_FALSE(Allowed(AcrossSwitches("GenuineIntel"), {}));
  EXPECT_TRUE(Allowed(AcrossSwitches("AuthenticAMD"), {}));
  PathOptions options;
  options.p2p_level = PathType::kPhb;
  EXPECT_TRUE(Allowed(AcrossSwitches("GenuineIntel"), options));
  options.p2p_level = PathType::kLoc;
  EXPECT_FALSE(Allowed(AcrossSwitches("AuthenticAMD"), options));
}

TEST(AccessTest, ContainersWithoutSharedMemoryLackPeerAccess) {
  PathOptions options;
  options.p2p_level = PathType::kSys;
  options.shared_memory = [](Rank, Rank) { return false; };
  EXPECT_FALSE(Allowed(AcrossSwitches("GenuineIntel"), options));
}

TEST(AccessTest, NvLinkWithoutPeerAccessIsAnErrorThatNamesBothRanks) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 80).NvLink(0x12, 4).Gpu(0x12, 80).NvLink(0x11, 4);
  const Graph graph = AccessGraph(machine.view);
  PathOptions options;
  options.peer_access = [](Rank, Rank) { return false; };
  const Result<Paths> paths = FindPaths(graph, 0, options);
  ASSERT_FALSE(paths.ok());
  EXPECT_THAT(paths.error().message, HasSubstr("ranks 1 and 0 of host \"host\""));
  EXPECT_THAT(paths.error().message, HasSubstr("NCCL_IGNORE_DISABLED_P2P=1"));
  options.ignore_disabled_p2p = 1;
  EXPECT_EQ(FindPaths(graph, 0, options)->From(graph.NodeOf(Rank{0}), graph.NodeOf(Rank{1})).type,
            PathType::kPhb);
  options.ignore_disabled_p2p = 2;
  EXPECT_EQ(FindPaths(graph, 0, options)->From(graph.NodeOf(Rank{0}), graph.NodeOf(Rank{1})).type,
            PathType::kNvl);
}

TEST(AccessTest, HostsOfAnotherCliqueAreReachableIfAllowed) {
  std::vector<HostView> rack = RackForTest(2);
  for (Gpu& gpu : rack[1].gpus) gpu.fabric->clique = 9;
  rack[1].gpus[0].fabric->clique = 3;  // joins the hosts
  const Graph graph = Build(rack, {}, {.gpus = GpuRanks::kGiven}).value();
  ASSERT_EQ(graph.systems().size(), 1u);
  const Paths paths = FindPaths(graph, 0, {}).value();
  const NodeIndex a = graph.NodeOf(Rank{0});
  EXPECT_TRUE(Access(paths, {}).Peer(a, graph.NodeOf(Rank{4}))->allowed);
  EXPECT_FALSE(Access(paths, {}).Peer(a, graph.NodeOf(Rank{5}))->allowed);
}

TEST(AccessTest, ANetworkFasterThanTheSocketsIsPreferred) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 90).Nic(0x12, 400'000);
  machine.Numa(1).Switch(0x20).Gpu(0x21, 90).Nic(0x22, 400'000);
  const Graph graph = AccessGraph(machine.view);
  const NodeIndex a = graph.NodeOf(Rank{0}), b = graph.NodeOf(Rank{1});
  EXPECT_EQ(FindPaths(graph, 0, {})->From(a, b).type, PathType::kNet);
  PathOptions options;
  options.net_intra = false;
  EXPECT_EQ(FindPaths(graph, 0, options)->From(a, b).type, PathType::kSys);
}

TEST(AccessTest, OldGpusWithoutNvLinkAreNotReadByNics) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 70).Gpu(0x12, 70).Nic(0x13, 100'000);
  const auto may = [&](const PathOptions& options, NicDirection direction) {
    const Graph graph = AccessGraph(machine.view);
    const Paths paths = FindPaths(graph, 0, options).value();
    return MayGpuDirect(paths, options, graph.NodeOf(Rank{0}), paths.Of(NodeKind::kNet)[0],
                        direction);
  };
  EXPECT_TRUE(may({}, NicDirection::kReceive));
  EXPECT_FALSE(may({}, NicDirection::kSend));
  PathOptions options;
  options.gdr_read = true;
  EXPECT_TRUE(may(options, NicDirection::kSend));
  machine.view.gpus[0].compute_capability = 80;
  EXPECT_TRUE(may({}, NicDirection::kSend));
  options.gdr_read = false;
  EXPECT_FALSE(may(options, NicDirection::kSend));
  machine.view.gpus[0].gdr = false;
  EXPECT_FALSE(may({}, NicDirection::kReceive));
}

}  // namespace
}  // namespace ringlet::topology
