#include "topology/paths/locality.hpp"

#include <gtest/gtest.h>

#include "topo/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

/// `gpus` and `nics` below one switch.
std::vector<std::uint32_t> Preferred(std::uint32_t gpus, std::uint32_t nics,
                                     const NetPolicy& policy, std::uint32_t rank) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10);
  for (std::uint8_t i = 0; i < gpus; ++i) machine.Gpu(static_cast<std::uint8_t>(0x20 + i), 80);
  for (std::uint8_t i = 0; i < nics; ++i) machine.Nic(static_cast<std::uint8_t>(0x40 + i), 100'000);
  const Graph graph = Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll}).value();
  const Paths paths = FindPaths(graph, 0, {}).value();
  std::vector<std::uint32_t> preferred;
  for (std::uint32_t channel = 0; channel < 4; ++channel)
    preferred.push_back(
        graph.at(NearNetsOf(paths, graph.NodeOf(Rank{rank}), policy).For(channel)).number);
  return preferred;
}

using Numbers = std::vector<std::uint32_t>;

TEST(LocalityTest, NicsAreAssignedByNumberInReversedBits) {
  EXPECT_EQ(Preferred(4, 4, {}, 1), (Numbers{2, 2, 2, 2}));
  EXPECT_EQ(Preferred(4, 4, {}, 3), (Numbers{3, 3, 3, 3}));
  EXPECT_EQ(Preferred(4, 3, {}, 3), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(Preferred(2, 6, {}, 1), (Numbers{1, 2, 3, 1}));
  EXPECT_EQ(Preferred(2, 6, {NetPolicy::Kind::kAll, 0}, 0), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(Preferred(2, 6, {NetPolicy::Kind::kMax, 2}, 0), (Numbers{0, 1, 0, 1}));
}

TEST(LocalityTest, TheNearestNicIsTheFastestThenTheClosest) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 80).Nic(0x12, 100'000).Up();
  machine.Switch(0x20).Nic(0x21, 200'000).Nic(0x22, 200'000);
  const Graph graph = Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll}).value();
  const Paths paths = FindPaths(graph, 0, {}).value();
  const NodeIndex gpu = graph.NodeOf(Rank{0});
  std::vector<std::uint32_t> numbers;
  for (const NodeIndex net : NearestOf(paths, gpu, NodeKind::kNet))
    numbers.push_back(graph.at(net).number);
  EXPECT_EQ(numbers, (Numbers{1, 2}));
  EXPECT_EQ(NearestCpu(paths, gpu), paths.Of(NodeKind::kCpu)[0]);
  EXPECT_TRUE(NearestOf(paths, gpu, NodeKind::kNvs).empty());
}

TEST(LocalityTest, NoNicIsPreferredWithoutNics) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 80);
  const Graph graph =
      Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll, .unknown_net = false}).value();
  const Paths paths = FindPaths(graph, 0, {}).value();
  EXPECT_TRUE(NearNetsOf(paths, graph.NodeOf(Rank{0}), {}).nets.empty());
}

}  // namespace
}  // namespace ringlet::topology
