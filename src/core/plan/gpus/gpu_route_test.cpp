#include "plan/gpus/gpu_route.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/gpus/gpus_for_test.hpp"

namespace ringlet::plan {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> Words(const GpuPlan& plan, const GpuRoute& route) {
  std::vector<std::string> words;
  for (const HardwareLink& link : route.links) words.push_back(ToText(plan, link));
  return words;
}

Result<GpuPlan> TwoHosts() {
  return PlanGpus(HostsForTest(kTwoSwitches, {{0, 1, 2, 3}, {4, 5, 6, 7}}), {});
}

TEST(RouteOf, EqualsThePathWithinANode) {
  const auto plan = TwoHosts();
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const GpuRoute route = RouteOf(*plan, Rank{4}, Rank{7}, 0, TransferPurpose::kRing);
  const auto words = Words(*plan, route);
  EXPECT_EQ(route.type, topology::PathType::kNvl);
  EXPECT_FALSE(route.exit);
  ASSERT_FALSE(words.empty());
  for (const std::string& word : words) EXPECT_THAT(word, HasSubstr("node 1: "));
  EXPECT_THAT(words.front(), HasSubstr("NVS/"));
}

TEST(RouteOf, ARingLeavesAndEntersByItsNicsBetweenNodes) {
  const auto plan = TwoHosts();
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const ChannelPlan& channels = plan->channels();
  int crossings = 0;
  for (std::uint32_t channel = 0; channel < channels.channel_count(); ++channel) {
    for (const Rank rank : channels.Ring(channel)) {
      const Rank next = channels.At(rank, channel).next;
      const GpuRoute route = RouteOf(*plan, rank, next, channel, TransferPurpose::kRing);
      ASSERT_FALSE(route.links.empty()) << Index(rank) << " to " << Index(next);
      if (channels.PlaceOf(rank).node == channels.PlaceOf(next).node) continue;
      ++crossings;
      ASSERT_TRUE(route.exit && route.entry);
      EXPECT_EQ(route.links.front().node, channels.PlaceOf(rank).node);
      EXPECT_EQ(route.links.back().node, channels.PlaceOf(next).node);
    }
  }
  EXPECT_EQ(static_cast<std::uint32_t>(crossings), 2 * channels.channel_count());
}

TEST(RouteOf, MessagesUseTheRailOfTheReceiver) {
  const auto plan = TwoHosts();
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  // GPUs 0 and 1 are near the first NIC, 2 and 3 near the second.
  const GpuRoute own = RouteOf(*plan, Rank{0}, Rank{4}, 0, TransferPurpose::kMessage);
  const GpuRoute other = RouteOf(*plan, Rank{0}, Rank{6}, 0, TransferPurpose::kMessage);
  ASSERT_TRUE(own.exit && other.exit);
  EXPECT_NE(*own.exit, *other.exit);
  EXPECT_THAT(Words(*plan, own).front(), Not(HasSubstr("NVL")));
  EXPECT_THAT(Words(*plan, other).front(), HasSubstr("NVL"));
}

TEST(RouteOf, TreesEnterAndLeaveByTheirOwnNics) {
  const auto plan = TwoHosts();
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const ChannelPlan& channels = plan->channels();
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const auto up = channels.At(Rank{rank}, 0).up;
    if (!up) continue;
    const GpuRoute route = RouteOf(*plan, Rank{rank}, *up, 0, TransferPurpose::kTree);
    EXPECT_THAT(route.links, Not(SizeIs(0))) << rank;
  }
}

}  // namespace
}  // namespace ringlet::plan
