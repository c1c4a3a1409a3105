#include "topology/paths/paths.hpp"

#include <gtest/gtest.h>

#include "topo/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

TEST(PathsTest, APathHasTheBandwidthOfItsNarrowestLink) {
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

TEST(PathsTest, ADomainOf576GpusTakes8BytesPerPath) {
  for (const auto& [hosts, mb_max] :
       {std::pair(18u, 1u), std::pair(36u, 3u), std::pair(144u, 43u)}) {
    const std::vector<HostView> rack = RackForTest(hosts);
    const Graph graph = Build(rack, {}, {.gpus = GpuRanks::kGiven}).value();
    const Paths paths = FindPaths(graph, 0, {}).value();
    EXPECT_LT(paths.bytes(), mb_max * 1'000'000ul) << hosts;
    const NodeIndex last = graph.NodeOf(Rank{hosts * 4 - 1});
    EXPECT_EQ(paths.From(graph.NodeOf(Rank{0}), last), (Path{PathType::kNvl, {721'800}, 4}));
    EXPECT_EQ(paths.From(last, paths.Of(NodeKind::kNet).back()),
              (Path{PathType::kP2c, {48'000}, 4}));
  }
}

TEST(PathsTest, RefusesATooLargeGraph) {
  MachineForTest machine;
  constexpr std::uint32_t kHosts = 3, kNumas = 800;
  for (std::uint32_t numa = 0; numa < kHosts * kNumas; ++numa) {
    machine.Numa(numa);
    machine.view.numa_nodes.back().host = 1 + numa / kNumas;
  }
  machine.Gpu(0x11, 80);
  const Graph graph = Build({&machine.view, 1}, {}, {.gpus = GpuRanks::kAll}).value();
  const Result<Paths> paths = FindPaths(graph, 0, {});
  ASSERT_FALSE(paths.ok());
  EXPECT_EQ(paths.error().code, Code::kUnsupported);
}

TEST(PathsTest, NodesOfOtherSystemsAndInnerNodesAreDisconnected) {
  MachineForTest a(1), b(2);
  a.Numa(0).Switch(0x10).Gpu(0x11, 80);
  b.Numa(0).Gpu(0x11, 80);
  b.view.gpus[0].rank = 1;
  const std::vector<HostView> views = {a.view, b.view};
  const Graph graph = Build(views, {}, {.gpus = GpuRanks::kGiven}).value();
  const Paths paths = FindPaths(graph, 0, {}).value();
  const NodeIndex own = graph.NodeOf(Rank{0}), other = graph.NodeOf(Rank{1});
  EXPECT_EQ(paths.From(own, other).type, PathType::kDis);
  EXPECT_EQ(paths.From(other, own).type, PathType::kDis);
  EXPECT_TRUE(paths.Route(own, other).empty());
  EXPECT_EQ(paths.From(own, graph.NodesOf(paths.system(), NodeKind::kPci)[0]).type, PathType::kDis);
  EXPECT_EQ(paths.LocalGpu(own), std::nullopt);
  EXPECT_EQ(FindPaths(graph, 1, {})->From(other, other).type, PathType::kLoc);
  EXPECT_FALSE(FindPaths(graph, 2, {}).ok());
}

}  // namespace
}  // namespace ringlet::topology
