#include "plan/channels/cpu_memory.hpp"

#include <gmock/gmock.h>

namespace ringlet::plan {
namespace {

using testing::ElementsAre;
using topology::CpuSet;
using topology::Graph;
using topology::HostView;

// Alternates the ranks between two NUMA nodes.
Graph Machine(std::uint64_t identity, std::uint32_t ranks,
              std::vector<topology::NetInterface> nets) {
  const HostView host{.name = "host",
                      .identity = identity,
                      .cpu = {"x86_64", "GenuineIntel", 6, 0x55, ""},
                      .numa_nodes = {{0, CpuSet::Of(0, 3), 0, {}}, {1, CpuSet::Of(4, 7), 0, {}}},
                      .nets = std::move(nets)};
  std::vector<topology::RankPlace> places;
  for (std::uint32_t i = 0; i < ranks; ++i) places.push_back({Rank{i}, 0, i % 2});
  return topology::Build({&host, 1}, places).value();
}

std::vector<Rank> First(std::uint32_t count) {
  std::vector<Rank> ranks;
  for (std::uint32_t i = 0; i < count; ++i) ranks.push_back(Rank{i});
  return ranks;
}

TEST(CpuMemoryTest, GroupsAreNumaNodesBeginningNearTheNetwork) {
  const Graph graph = Machine(1, 5, {{"eth0", 100'000, 1}});
  const CpuMemoryShape near = ComputeCpuMemoryShape(graph, First(5), true);
  EXPECT_THAT(near.order, ElementsAre(1, 3, 0, 2, 4));
  EXPECT_EQ(near.routes.entry.mb_per_s, 12'500u);
  EXPECT_EQ(near.routes.exit.mb_per_s, 10'000u);
  EXPECT_EQ(near.both_ways.entry.mb_per_s, 0u);
  EXPECT_EQ(near.memory.mb_per_s, 17'000u);
  EXPECT_EQ(near.inside.mb_per_s, 10'000u);
  EXPECT_THAT(ComputeCpuMemoryShape(graph, First(5), false).order, ElementsAre(0, 2, 4, 1, 3));
}

TEST(CpuMemoryTest, TheTreeHasAnEdgePerFurtherNumaNode) {
  const NodeShape shape =
      ShapeOf(ComputeCpuMemoryShape(Machine(1, 12, {}), First(12), false), false);
  const LocalTree& tree = shape.trees[0];
  EXPECT_THAT(tree.order, ElementsAre(0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11));
  EXPECT_THAT(tree.above, ElementsAre(0, 0, 1, 1, 2, 0, 6, 6, 7, 7, 8));
  EXPECT_THAT(shape.groups[1], ElementsAre(1, 3, 5, 7, 9, 11));
}

TEST(CpuMemoryTest, NumaNodesFormABinaryTree) {
  HostView host;
  host.identity = 1;
  host.cpu = {"x86_64", "GenuineIntel", 6, 0x55, ""};
  std::vector<topology::RankPlace> places;
  for (std::uint32_t i = 0; i < 4; ++i) host.numa_nodes.push_back({i, CpuSet::Of(i, i), 0, {}});
  for (std::uint32_t i = 0; i < 8; ++i) places.push_back({Rank{i}, 0, i % 4});
  const Graph graph = topology::Build({&host, 1}, places).value();
  const LocalTree tree = ShapeOf(ComputeCpuMemoryShape(graph, First(8), false), false).trees[0];
  EXPECT_THAT(tree.order, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(tree.above, ElementsAre(0, 0, 2, 0, 4, 2, 6));
}

/// The first NUMA node is the parent of the other two.
TEST(CpuMemoryTest, ATreeHasTheBandwidthOfItsNarrowestEdge) {
  const topology::CpuModel intel = {"x86_64", "GenuineIntel", 6, 0x55, ""};
  for (const std::uint32_t slow : {0u, 1u, 2u, 3u}) {
    HostView host;
    host.identity = 1;
    host.cpu = intel;
    std::vector<topology::RankPlace> places;
    for (std::uint32_t i = 0; i < 3; ++i) {
      host.numa_nodes.push_back({i, CpuSet::Of(i, i), 0, {}});
      if (i == slow) host.numa_nodes.back().cpu = topology::CpuModel{"arm64", "", 0, 0, ""};
      places.push_back({Rank{i}, 0, i});
    }
    const Graph graph = topology::Build({&host, 1}, places).value();
    EXPECT_EQ(ComputeCpuMemoryShape(graph, First(3), false).tree_inside.mb_per_s,
              slow < 3 ? 6'000u : 10'000u);
  }
}

TEST(CpuMemoryTest, HostsThatDifferInNameOnlyShareAClass) {
  const Graph one = Machine(1, 4, {{"eth0", 100'000, 1}}),
              same = Machine(2, 4, {{"ens3", 100'000, 1}});
  const Graph slower = Machine(1, 4, {{"eth0", 10'000, 1}}),
              fewer = Machine(1, 3, {{"eth0", 100'000, 1}});
  const auto key = CpuMemoryKey(one, First(4));
  EXPECT_EQ(key, CpuMemoryKey(same, First(4)));
  EXPECT_NE(key, CpuMemoryKey(slower, First(4)));
  EXPECT_NE(key, CpuMemoryKey(fewer, First(3)));
}

}  // namespace
}  // namespace ringlet::plan
