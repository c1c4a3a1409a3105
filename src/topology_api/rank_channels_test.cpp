#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "plan/channels/graph_file.hpp"
#include "ringlet/topology.hpp"
#include "topology_api/fixture_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

Topology FourGpus() {
  return Topology::Load(FixturePath("topologies/nvidia/perlmutter_a100_nid001056.topo.xml"))
      .value();
}

void ExpectRingsAndTreesVisitEachRankOnce(const RankChannels& planned) {
  std::vector<std::uint32_t> all(planned.ranks);
  std::iota(all.begin(), all.end(), 0u);
  for (const RankChannel& channel : planned.channels) {
    std::vector<std::uint32_t> ring = channel.ring;
    std::ranges::sort(ring);
    EXPECT_EQ(ring, all);
    ASSERT_EQ(channel.parents.size(), planned.ranks);
    EXPECT_EQ(std::ranges::count(channel.parents, std::optional<std::uint32_t>()), 1);
    for (std::uint32_t rank = 0; rank < planned.ranks; ++rank) {
      std::optional<std::uint32_t> at = rank;
      for (std::uint32_t step = 0; at && step <= planned.ranks; ++step) at = channel.parents[*at];
      EXPECT_EQ(at, std::nullopt) << "the tree has a circle above rank " << rank;
    }
  }
}

TEST(RankChannelsTest, PlansRingsAndTreesOfOneHost) {
  const RankChannels planned = PlanChannels(FourGpus()).value();
  EXPECT_EQ(planned.ranks, 4u);
  EXPECT_GT(planned.ring_gb_per_s, 0);
  EXPECT_EQ(planned.channels.size(), std::max(planned.rings, planned.trees));
  ExpectRingsAndTreesVisitEachRankOnce(planned);
  EXPECT_THAT(planned.graph_file, HasSubstr("<graph"));
}

TEST(RankChannelsTest, PlansSeveralHosts) {
  const RankChannels planned = PlanChannels(FourGpus(), {.hosts = 3}).value();
  EXPECT_EQ(planned.ranks, 12u);
  ExpectRingsAndTreesVisitEachRankOnce(planned);
  EXPECT_NE(planned.digest, PlanChannels(FourGpus(), {.hosts = 2})->digest);
  EXPECT_EQ(planned.digest, PlanChannels(FourGpus(), {.hosts = 3})->digest);
}

TEST(RankChannelsTest, HostsOfOneNvlinkDomainAreCopiedWithTheirDomain) {
  const Topology rack = Topology::Load(FixturePath("topo-vectors/mnnvl-2x4.xml")).value();
  const RankChannels planned = PlanChannels(rack, {.hosts = 2}).value();
  EXPECT_EQ(planned.ranks, 16u);
  ExpectRingsAndTreesVisitEachRankOnce(planned);
}

TEST(RankChannelsTest, LimitsTheChannels) {
  const RankChannels best = PlanChannels(FourGpus(), {.channels_max = 32}).value();
  const RankChannels one = PlanChannels(FourGpus(), {.channels_max = 1}).value();
  EXPECT_LE(one.channels.size(), 2u) << "each channel of the search counts twice";
  EXPECT_LT(one.channels.size(), best.channels.size());
}

TEST(RankChannelsTest, RefusesImpossibleRequests) {
  EXPECT_EQ(PlanChannels(FourGpus(), {.hosts = 0}).error().code, Code::kInvalidArgument);
  EXPECT_THAT(PlanChannels(FourGpus(), {.hosts = 1025}).error().message, HasSubstr("1 to 1024"));
  EXPECT_TRUE(PlanChannels(FourGpus(), {.hosts = 1024}).ok());
  EXPECT_THAT(PlanChannels(FourGpus(), {.channels_max = 33}).error().message,
              HasSubstr("at most 32"));
  const Topology cpus = Topology::Describe("1 nic").value();
  EXPECT_THAT(PlanChannels(cpus).error().message, HasSubstr("does not have GPUs"));
}

}  // namespace
}  // namespace ringlet::topology
