#include "collective/cost.hpp"

#include <gtest/gtest.h>

#include "collective/hierarchy.hpp"

namespace ringlet::collective {
namespace {

constexpr CostModel kModel{.local = {.latency_ns = 1000, .overhead_ns = 100, .mb_per_s = 1000},
                           .remote = {.latency_ns = 9000, .overhead_ns = 1000, .mb_per_s = 100},
                           .reduce_mb_per_s = 1000};

std::uint64_t TimeOf(Algorithm algorithm, CallKind kind, std::size_t bytes, std::uint32_t ranks,
                     std::uint32_t hosts) {
  const Groups groups = EvenGroups(ranks, hosts);
  return TimeNs(algorithm, {.kind = kind, .count = bytes, .ranks = ranks}, 1,
                {.order = InOrder(groups), .groups = groups}, kModel);
}

TEST(Cost, IsRoundsAndBytes) {
  EXPECT_EQ(TimeOf(Algorithm::kRing, CallKind::kAllReduce, 0, 4, 1), 6u * 1100);
  EXPECT_EQ(TimeOf(Algorithm::kDoubling, CallKind::kAllReduce, 0, 4, 1), 2u * 1100);
  // Of 4000 bytes 1000 ns a share: 6 rounds, in 3 of them also added up.
  EXPECT_EQ(TimeOf(Algorithm::kRing, CallKind::kAllReduce, 4000, 4, 1), 6u * 2100 + 3 * 1000);
  EXPECT_EQ(TimeOf(Algorithm::kBinomial, CallKind::kBroadcast, 0, 8, 1), 3u * 1100);
}

TEST(Cost, BetweenHostsItIsTheLinksBetween) {
  EXPECT_EQ(TimeOf(Algorithm::kRing, CallKind::kAllReduce, 0, 4, 2), 6u * 10000);
  // Both ranks of a host have a message for the other one: a fifth of a share more.
  EXPECT_EQ(TimeOf(Algorithm::kDoubling, CallKind::kAllReduce, 0, 4, 2), 1100u + 10000 + 200);
}

TEST(Cost, OneRankOfAHostSpeaksForLittle) {
  // In, between, out; all else takes turns at the card.
  const auto time = [](std::size_t bytes) {
    return TimeOf(Algorithm::kHierarchicalDoubling, CallKind::kAllReduce, bytes, 8, 2);
  };
  EXPECT_EQ(time(0), 2u * (1000 + 3 * 100) + 10000);
  EXPECT_GT(time(4 * kShardElementsMin), 2u * (1000 + 3 * 100) + 10000 + 3 * 200);
}

TEST(Cost, EachWithEachIsOneDelayAndAllMessages) {
  const auto time = [](std::size_t bytes, std::uint32_t ranks, std::uint32_t hosts) {
    return TimeOf(Algorithm::kHierarchicalDirect, CallKind::kAllReduce, bytes, ranks, hosts);
  };
  EXPECT_EQ(time(0, 8, 4), 2u * 1100 + 9000 + 3 * 1000);
  // 100 bytes: 100 and 100 ns near, and thrice 1000 between, of a host's card; added up four times.
  EXPECT_EQ(time(100, 8, 4), 2u * (1100 + 100) + 100 + 9000 + 3 * 1000 + 3 * 1000 + 3 * 100);
  EXPECT_EQ(TimeOf(Algorithm::kDirect, CallKind::kAllReduce, 0, 4, 4), 9000u + 3 * 1000);
}

TEST(Cost, TreesLeaveAHostOfSeveralRanksTwice) {
  const auto of_4000_bytes = [](std::uint32_t ranks, std::uint32_t hosts) {
    return TimeOf(Algorithm::kDoubleTree, CallKind::kBroadcast, 4000, ranks, hosts) -
           TimeOf(Algorithm::kDoubleTree, CallKind::kBroadcast, 0, ranks, hosts);
  };
  EXPECT_EQ(of_4000_bytes(4, 4), 40'000u);
  EXPECT_EQ(of_4000_bytes(8, 4), 80'000u);
  EXPECT_EQ(of_4000_bytes(4, 1), 4'000u);
}

TEST(Cost, ARankAloneIsDoneAtOnce) {
  EXPECT_EQ(TimeOf(Algorithm::kRing, CallKind::kAllReduce, 4000, 1, 1), 0u);
}

}  // namespace
}  // namespace ringlet::collective
