#include <gmock/gmock.h>

#include "topo/edit/machines_for_test.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

TEST(BuildTest, RanksInCpuMemoryReachPciPorts) {
  MachineForTest machine;
  machine.Numa(0).Numa(1).Switch(0x10).Nic(0x11, 200'000).Gpu(0x12, 90);
  const std::vector<RankPlace> places = {{Rank{0}, 0, 0}, {Rank{1}, 0, 1}};
  const Graph graph = Build({&machine.view, 1}, places).value();
  EXPECT_EQ(graph.rank_count(), 2u);  // GPUs are not ranks here
  const NodeIndex net = graph.NodesOf(graph.systems()[0], NodeKind::kNet)[0];
  const auto width = [&](std::uint32_t rank) {
    const NodeIndex from = graph.NodeOf(Rank{rank});
    return WidestFrom(graph, from)[Index(net) - graph.hosts()[0].first].mb_per_s;
  };
  EXPECT_EQ(width(0), 17'000u);
  EXPECT_EQ(width(1), 17'000u);
  const Paths paths = FindPaths(graph, 0, {}).value();
  EXPECT_EQ(paths.From(graph.NodeOf(Rank{1}), net).type, PathType::kPhb);
  EXPECT_EQ(paths.From(graph.NodeOf(Rank{0}), net).type, PathType::kSys);
}

TEST(BuildTest, RanksMayBeOnGpusAndInCpuMemory) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 90);
  const std::vector<RankPlace> one = {{Rank{5}, 0, 0}}, taken = {{Rank{0}, 0, 0}};
  const BuildOptions options{.gpus = GpuRanks::kGiven};
  EXPECT_EQ(Build({&machine.view, 1}, one, options).value().at(Rank{5}).kind, NodeKind::kRank);
  EXPECT_THAT(Build({&machine.view, 1}, taken, options).error().message,
              HasSubstr("rank 0 is placed twice"));
}

TEST(BuildTest, AGraphOfGivenRanksRequiresARank) {
  MachineForTest machine;
  machine.Numa(0).Nic(0x11, 100'000);
  EXPECT_THAT(Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kGiven}).error().message,
              HasSubstr("no GPU has a rank"));
  EXPECT_EQ(Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll})->rank_count(), 0u);
}

TEST(BuildTest, BoundsTheNumaNodesOfAHost) {
  MachineForTest machine;
  for (std::uint32_t numa = 0; numa < 1025; ++numa) machine.Numa(numa);
  EXPECT_THAT(Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll}).error().message,
              HasSubstr("more than 1024 NUMA nodes"));
}

TEST(BuildTest, HostsOfARackFormASingleSystem) {
  const std::vector<HostView> rack = RackForTest(18);
  const Graph graph = Build(rack, {}, {.gpus = GpuRanks::kGiven}).value();
  EXPECT_EQ(graph.systems().size(), 1u);
  EXPECT_EQ(graph.rank_count(), 72u);
  std::vector<HostView> twice = rack;
  twice[17].identity = 1;
  EXPECT_THAT(Build(twice, {}, {.gpus = GpuRanks::kGiven}).error().message,
              HasSubstr("hosts \"node0\" and \"node17\" have the same identity"));
}

}  // namespace
}  // namespace ringlet::topology
