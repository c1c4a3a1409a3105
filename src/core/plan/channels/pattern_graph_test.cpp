#include "plan/channels/pattern_graph.hpp"

#include <gtest/gtest.h>

namespace ringlet::plan {
namespace {

PatternGraph SampleRing() {
  PatternGraph ring;
  ring.channels = {{{0, 3, 2, 1}, 1, 2}, {{1, 0, 3, 2}, 2, 1}};
  ring.intra = {48'000};
  ring.inter = {24'000};
  ring.type_intra = topology::PathType::kNvl;
  ring.type_inter = topology::PathType::kPxn;
  ring.cross_nic = 2;
  ring.steps = 17;
  ring.searches = 3;
  ring.stopped = StopReason::kExhausted;
  ring.bound = {50'000};
  return ring;
}

TEST(PatternGraphTest, TheNarrowerSideLimitsGraphsWithNics) {
  PatternGraph ring = SampleRing();
  EXPECT_EQ(ring.total().mb_per_s, 48'000u);
  for (LocalChannel& channel : ring.channels) channel.entry = channel.exit = std::nullopt;
  EXPECT_EQ(ring.total().mb_per_s, 96'000u);
  ring.channels.clear();
  EXPECT_EQ(ring.total().mb_per_s, 0u);
}

TEST(PatternGraphTest, TextHasALinePerChannel) {
  EXPECT_EQ(ToText(SampleRing()),
            "ring RING: 2 channels of 48000/24000 MB/s, NVL/PXN, cross nic 2, 48000 of at most "
            "50000 MB/s, exhausted after 3 searches of 17 steps\n"
            "  0: nic 1 > 0 3 2 1 > nic 2\n"
            "  1: nic 2 > 1 0 3 2 > nic 1\n");
  HostPlan plan;
  EXPECT_EQ(ToText(plan), "");
  plan.of(GraphId::kRing) = SampleRing();
  EXPECT_EQ(ToText(plan), ToText(SampleRing()));
}

TEST(PatternGraphTest, NumbersMatchGraphFiles) {
  EXPECT_EQ(static_cast<int>(Pattern::kBalancedTree), 1);
  EXPECT_EQ(static_cast<int>(Pattern::kCollnetDirect), 6);
  EXPECT_EQ(static_cast<int>(GraphId::kNvls), 3);
  EXPECT_EQ(NameOf(Pattern::kSplitTree), "SPLIT_TREE");
  EXPECT_EQ(NameOf(GraphId::kCollnetChain), "collnet chain");
  EXPECT_EQ(NameOf(StopReason::kSaturated), "saturated");
}

}  // namespace
}  // namespace ringlet::plan
