#include "topology/paths.hpp"

#include <gtest/gtest.h>

namespace ringlet::topology {
namespace {

TEST(PathsTest, APathIsAsWideAsItsNarrowestLink) {
  const std::vector<HostView> hosts = {
      {.name = "a",
       .identity = 1,
       .cpu = {"x86_64", "GenuineIntel", 6, 0x55, ""},
       .numa_nodes = {{0, CpuSet::Of(0, 3), 0, {}}, {1, CpuSet::Of(4, 7), 0, {}}},
       .nets = {{"slow", 8'000, 1}, {"wide", 400'000, 0}}},
      {.name = "b", .identity = 2, .cpu = {}, .numa_nodes = {{}}, .nets = {}}};
  const std::vector<RankPlace> ranks = {
      {Rank{0}, 0, 0}, {Rank{1}, 0, 0}, {Rank{2}, 0, 1}, {Rank{3}, 1, 0}};
  const Graph graph = Build(hosts, ranks).value();
  const std::vector<Bandwidth> from = WidestFrom(graph, graph.NodeOf(Rank{0}));
  const auto to = [&](NodeIndex node) { return from[Index(node)].mb_per_s; };
  ASSERT_EQ(from.size(), 7u);
  EXPECT_EQ(to(graph.NodeOf(Rank{0})), 17'000u);
  EXPECT_EQ(to(graph.NodeOf(Rank{1})), 17'000u);
  EXPECT_EQ(to(graph.NodeOf(Rank{2})), 10'000u);
  EXPECT_EQ(to(NodeIndex{2}), 1'000u);
  EXPECT_EQ(to(NodeIndex{3}), 17'000u);
  EXPECT_EQ(WidestFrom(graph, graph.NodeOf(Rank{2}))[3].mb_per_s, 10'000u);
  EXPECT_EQ(WidestFrom(graph, graph.NodeOf(Rank{3})).size(), 3u);
}

}  // namespace
}  // namespace ringlet::topology
