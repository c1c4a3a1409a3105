#include "plan/gpus/gpu_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/gpus/gpu_route.hpp"
#include "plan/gpus/gpus_for_test.hpp"
#include "plan/policy/host_search.hpp"

namespace ringlet::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

TEST(PlanGpus, HostsOfASingleKindAreSearchedOnce) {
  const auto plan = PlanGpus(HostsForTest(kTwoSwitches, {{0, 1, 2, 3}, {4, 5, 6, 7}}), {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(plan->systems, SizeIs(1));
  ASSERT_THAT(plan->nodes, SizeIs(2));
  EXPECT_THAT(plan->nodes[1].ranks, ElementsAre(Rank{4}, Rank{5}, Rank{6}, Rank{7}));
  EXPECT_EQ(plan->channels().rank_count(), 8u);
  EXPECT_TRUE(plan->channels().Check().ok());
}

TEST(PlanGpus, RanksMayHaveAnyPlacement) {
  const auto plan = PlanGpus(HostsForTest(kTwoSwitches, {{0, 2, 4, 6}, {1, 3, 5, 7}}), {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  for (std::uint32_t channel = 0; channel < plan->channels().channel_count(); ++channel) {
    const std::vector<Rank> ring = plan->channels().Ring(channel);
    std::vector<Rank> all;
    for (std::uint32_t rank = 0; rank < 8; ++rank) all.push_back(Rank{rank});
    EXPECT_THAT(ring, UnorderedElementsAreArray(all));
    // The ring visits host after host and crosses the network twice.
    int crossings = 0;
    for (std::size_t i = 0; i < ring.size(); ++i)
      crossings += Index(ring[i]) % 2 != Index(ring[(i + 1) % ring.size()]) % 2;
    EXPECT_EQ(crossings, 2);
  }
}

TEST(PlanGpus, PartlyUsedHostsAreAnotherKind) {
  const auto plan = PlanGpus(HostsForTest(kTwoSwitches, {{0, 1, 2, 3}, {4, 5}}), {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(plan->systems, SizeIs(2));
  EXPECT_EQ(plan->channels().rank_count(), 6u);
}

TEST(PlanGpus, ThePlanOfASingleHostEqualsItsSearch) {
  const auto hosts = HostsForTest(kTwoSwitches, {{0, 1, 2, 3}});
  const auto plan = PlanGpus(hosts, {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const GpuSystem& system = plan->systems.front();
  const auto searched = SearchHost(system.paths, {.policy = Policy::kCompat});
  ASSERT_TRUE(searched.ok());
  EXPECT_EQ(system.planned.plan, *searched);
}

TEST(PlanGpus, NamesARankWithoutAGpu) {
  const auto plan = PlanGpus(HostsForTest(kTwoSwitches, {{0, 1, 3}}), {});
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message, HasSubstr("rank 2 is on no GPU"));
  EXPECT_FALSE(PlanGpus(HostsForTest(kTwoSwitches, {{}}), {}).ok());
}

TEST(PlanGpus, RefusesTwoGpusOfASingleRank) {
  const auto plan = PlanGpus(HostsForTest(kTwoSwitches, {{0, 1}, {1, 2}}), {});
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message, HasSubstr("rank 1 is on two GPUs"));
}

TEST(PlanGpus, MergesPortsOfACard) {
  std::vector<topology::HostView> hosts = HostsForTest(kTwoSwitches, {{0, 1, 2, 3}, {4, 5, 6, 7}});
  for (topology::HostView& host : hosts) {
    host.nets.push_back(host.nets.front());
    host.nets.back().name = "second";
    host.nets.back().dev = 9;
  }
  const auto nets = [&](const GpuPlanOptions& options) {
    return PlanGpus(hosts, options)->systems.front().paths.Of(topology::NodeKind::kNet).size();
  };
  EXPECT_EQ(nets({}), 2u);
  GpuPlanOptions apart;
  apart.ports.merge.level = topology::PortDistance::kLoc;
  EXPECT_EQ(nets(apart), 3u);
}

TEST(PlanGpus, ChannelsAreBounded) {
  GpuPlanOptions options;
  options.channels.max = 2;
  const auto plan = PlanGpus(HostsForTest(kTwoSwitches, {{0, 1, 2, 3}}), options);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->channels().channel_count(), 2u);
}

TEST(PlanGpus, FollowsAGraphFileOfASingleKind) {
  GpuPlanOptions options;
  options.given = {"mine.xml", R"(<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="12" speedinter="12"
         latencyinter="0" typeintra="PIX" typeinter="PIX" samechannels="1">
    <channel><gpu dev="0"/><gpu dev="2"/><gpu dev="1"/><gpu dev="3"/></channel>
  </graph>
  <graph id="1" pattern="3" crossnic="0" nchannels="1" speedintra="12" speedinter="12"
         latencyinter="0" typeintra="PIX" typeinter="PIX" samechannels="1">
    <channel><gpu dev="0"/><gpu dev="2"/><gpu dev="1"/><gpu dev="3"/></channel>
  </graph>
</graphs>)"};
  const auto plan = PlanGpus(HostsForTest(kTwoSwitches, {{0, 1, 2, 3}}), options);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(plan->channels().Ring(0), ElementsAre(Rank{0}, Rank{2}, Rank{1}, Rank{3}));
  EXPECT_FALSE(PlanGpus(HostsForTest(kTwoSwitches, {{0, 1, 2, 3}, {4, 5}}), options).ok());
}

}  // namespace
}  // namespace ringlet::plan
