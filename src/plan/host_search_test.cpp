#include "plan/host_search.hpp"

#include <gtest/gtest.h>

#include "plan/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

TEST(HostSearchTest, AHostWithoutRanksIsRefused) {
  const MachineForTest machine("(switch: 1 nic)");
  const Result<HostPlan> plan = SearchHost(machine.paths(), {});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, Code::kUnsupported);
}

TEST(HostSearchTest, TreesHaveAsManyChannelsAsRings) {
  const MachineForTest machine("8 gpu h100-sxm5 switch");
  for (const Policy policy : {Policy::kCompat, Policy::kBest}) {
    const HostPlan plan = SearchHost(machine.paths(), {.policy = policy}).value();
    EXPECT_EQ(plan.devices, 8u);
    // best moves both to a number at which each GPU is the end of as many trees.
    const std::size_t channels = policy == Policy::kCompat ? 12 : 16;
    EXPECT_EQ(plan.of(GraphId::kRing).channels.size(), channels);
    EXPECT_EQ(plan.of(GraphId::kTree).channels.size(), channels);
    if (policy == Policy::kBest) {
      EXPECT_EQ(plan.of(GraphId::kRing).total(), plan.of(GraphId::kRing).bound);
      EXPECT_GE(plan.of(GraphId::kTree).total().mb_per_s + channels,
                plan.of(GraphId::kTree).bound.mb_per_s);
    }
    EXPECT_EQ(plan.of(GraphId::kNvls).channels.size(), 8u);
    EXPECT_TRUE(plan.of(GraphId::kCollnetChain).channels.empty());
  }
}

TEST(HostSearchTest, OneGpuAloneHasARing) {
  const MachineForTest machine("1 gpu");
  EXPECT_FALSE(SearchHost(machine.paths(), {}).value().of(GraphId::kRing).channels.empty());
}

TEST(HostSearchTest, CollnetIsLookedForOnDemand) {
  const MachineForTest machine("(switch: 2 gpu, 1 nic)");
  std::vector<Story> stories;
  SearchOptions options;
  options.beyond = options.collnet = true;
  const HostPlan plan = SearchHost(machine.paths(), options, &stories).value();
  EXPECT_TRUE(plan.of(GraphId::kCollnetChain).channels.empty()) << "the NIC does not reduce";
  EXPECT_FALSE(stories.empty());
}

topology::HostView TwoNodes() {
  topology::HostView view;
  view.name = "host";
  view.identity = 1;
  view.cpu.arch = "x86_64";
  view.cpu.vendor = "GenuineIntel";
  view.cpu.family = 6;
  view.cpu.model = 0x55;
  view.numa_nodes.push_back({0, topology::CpuSet::Of(0, 3), 0, {}});
  view.numa_nodes.push_back({1, topology::CpuSet::Of(4, 7), 0, {}});
  view.nets.push_back({"eth0", 25'000, 0});
  view.nets.push_back({"eth1", 100'000, 1});
  return view;
}

TEST(HostSearchTest, RanksInHostMemoryHaveRings) {
  const topology::HostView view = TwoNodes();
  const std::vector<topology::RankPlace> places = {
      {Rank{0}, 0, 0}, {Rank{1}, 0, 0}, {Rank{2}, 0, 1}, {Rank{3}, 0, 1}};
  const topology::Graph graph = topology::Build({&view, 1}, places).value();
  const topology::Paths paths = topology::FindPaths(graph, 0, {}).value();
  for (const bool beyond : {false, true}) {
    const HostPlan plan = SearchHost(paths, {.beyond = beyond}).value();
    const PatternGraph& ring = plan.of(GraphId::kRing);
    ASSERT_FALSE(ring.channels.empty());
    EXPECT_EQ(ring.channels[0].devices.size(), 4u);
    EXPECT_EQ(ring.channels[0].entry.has_value(), beyond);
    EXPECT_LE(ring.total(), ring.bound) << ToText(ring);
    EXPECT_NE(ring.stopped, StopReason::kFallback) << ToText(ring);
  }
}

TEST(HostSearchTest, RingsInHostMemoryStayOnANodeAsLongAsTheyCan) {
  const topology::HostView view = TwoNodes();
  const std::vector<topology::RankPlace> places = {
      {Rank{0}, 0, 0}, {Rank{1}, 0, 1}, {Rank{2}, 0, 0}, {Rank{3}, 0, 1}};
  const topology::Graph graph = topology::Build({&view, 1}, places).value();
  const topology::Paths paths = topology::FindPaths(graph, 0, {}).value();
  const auto& ranks = paths.Of(topology::NodeKind::kRank);
  const HostPlan plan = SearchHost(paths, {}).value();
  for (const LocalChannel& channel : plan.of(GraphId::kRing).channels) {
    int crossings = 0;
    for (std::size_t i = 0; i < 4; ++i)
      crossings += graph.at(ranks[channel.devices[i]]).number % 2 !=
                   graph.at(ranks[channel.devices[(i + 1) % 4]]).number % 2;
    EXPECT_EQ(crossings, 2) << ToText(plan.of(GraphId::kRing));
  }
}

TEST(HostSearchTest, TheBoundOfCompatIsFoundWhereItIsAskedFor) {
  const MachineForTest machine("2x(numa: 1x(switch: 2 gpu, 1 nic 10g))");
  for (const bool beyond : {false, true}) {
    const SearchOptions plain{.policy = Policy::kCompat, .beyond = beyond};
    SearchOptions reported = plain;
    reported.bounds = true;
    const HostPlan without = SearchHost(machine.paths(), plain).value();
    const HostPlan with = SearchHost(machine.paths(), reported).value();
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
      EXPECT_EQ(without.of(id).bound.mb_per_s, 0u);
      EXPECT_GT(with.of(id).bound.mb_per_s, 0u);
      EXPECT_EQ(without.of(id).channels, with.of(id).channels);
      EXPECT_EQ(without.of(id).total(), with.of(id).total());
    }
  }
}

}  // namespace
}  // namespace ringlet::plan
