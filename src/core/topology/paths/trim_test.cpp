#include "topology/paths/trim.hpp"

#include <gmock/gmock.h>

#include "topo/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

/// Two sockets with two GPUs and a NIC each. The NICs are faster than the link between the sockets.
Graph Sockets() {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 90).Gpu(0x12, 90).Nic(0x13, 400'000);
  machine.Numa(1).Switch(0x20).Gpu(0x21, 90).Gpu(0x22, 90).Nic(0x23, 400'000);
  return Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll}).value();
}

TEST(TrimTest, GpusJoinedOnlyByTheNetworkAreInTwoDomains) {
  const Graph graph = Sockets();
  const Paths paths = FindPaths(graph, 0, {}).value();
  EXPECT_EQ(DomainsOf(paths), (std::vector<std::uint32_t>{0, 0, 2, 2}));
  const Graph second = TrimToDomain(paths, Rank{3}).value();
  EXPECT_TRUE(second.Check().ok());
  EXPECT_EQ(second.rank_count(), 2u);
  EXPECT_TRUE(second.Find(Rank{2}) && second.Find(Rank{3}));
  EXPECT_FALSE(second.Find(Rank{0}));
  EXPECT_EQ(second.NodesOf(second.systems()[0], NodeKind::kDev).size(), 4u);
  EXPECT_EQ(second.NodesOf(second.systems()[0], NodeKind::kNet).size(), 2u);
  EXPECT_FALSE(TrimToDomain(paths, Rank{4}).ok());
}

TEST(TrimTest, LimitsCountDevices) {
  const Graph graph = Sockets();
  const Paths paths = FindPaths(graph, 0, {}).value();
  EXPECT_EQ(LimitsOf(paths, false).widest.mb_per_s, 48'000u);
  EXPECT_EQ(LimitsOf(paths, true).widest.mb_per_s, 48'000u);
  EXPECT_EQ(LimitsOf(paths, true).total.mb_per_s, 48'000u);
  MachineForTest alone;
  alone.Numa(0).Gpu(0x11, 90);
  const Graph one = Build({&alone.view, 1}, {}, {.gpus = GpuRanks::kAll}).value();
  EXPECT_EQ(LimitsOf(FindPaths(one, 0, {}).value(), false).total, kLocalLink);
}

}  // namespace
}  // namespace ringlet::topology
