// That the parts are right is proven in algorithm_test.cpp; here, how much goes where.
#include "collective/algorithm/shared_hierarchy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collective/algorithm/algorithm.hpp"

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

/// Elements that leave a host, all its ranks together.
template <typename Build>
std::size_t LeavingTheShared(const std::vector<Rank>& host, Build build) {
  std::size_t elements = 0;
  for (const Rank self : host)
    for (const CallPart& part : build(self).parts)
      if (const auto* schedule = std::get_if<Schedule>(&part))
        for (const Step& step : schedule->steps)
          if (step.kind == StepKind::kSend) elements += step.count;
  return elements;
}

std::vector<CallKind> KindsOnHost(const CallParts& parts) {
  std::vector<CallKind> kinds;
  for (const CallPart& part : parts.parts)
    if (const auto* on_host = std::get_if<HostPart>(&part)) kinds.push_back(on_host->kind);
  return kinds;
}

TEST(SharedHierarchy, AsLittleAsPossibleLeavesAHost) {
  const Groups hosts = EvenGroups(12, 3);
  for (const std::size_t shards : {1u, 4u}) {
    EXPECT_EQ(LeavingTheShared(hosts[0],
                               [&](Rank self) {
                                 return SharedAllReduce(hosts, shards, Between::kRing, self, 120);
                               }),
              2u * 2 * 120 / 3);
    EXPECT_EQ(LeavingTheShared(hosts[0],
                               [&](Rank self) { return SharedAllGather(hosts, shards, self, 10); }),
              2u * 4 * 10);
    EXPECT_EQ(
        LeavingTheShared(hosts[0],
                         [&](Rank self) { return SharedReduceScatter(hosts, shards, self, 10); }),
        2u * 4 * 10);
  }
  for (const Between between : {Between::kRing, Between::kDoubling, Between::kDirect}) {
    EXPECT_EQ(
        LeavingTheShared(
            hosts[0], [&](Rank self) { return SharedReduce(hosts, between, self, Rank{5}, 10); }),
        10u);
    EXPECT_EQ(LeavingTheShared(
                  hosts[0],
                  [&](Rank self) { return SharedBroadcast(hosts, between, self, Rank{5}, 10); }),
              0u);
  }
}

TEST(SharedHierarchy, MuchIsSharedByAllRanksOfAHostWhereAllHaveAsMany) {
  const auto shards = [](std::size_t count, const Groups& hosts, CallKind kind) {
    return SharedShardsOf(Call{.kind = kind, .count = count},
                          {.order = InOrder(hosts), .groups = hosts, .sharing = hosts});
  };
  const Groups even = EvenGroups(8, 2);
  EXPECT_EQ(shards(4 * kShardElementsMin - 1, even, CallKind::kAllReduce), 1u);
  EXPECT_EQ(shards(4 * kShardElementsMin, even, CallKind::kAllReduce), 4u);
  EXPECT_EQ(shards(4 * kShardElementsMin, EvenGroups(7, 2), CallKind::kAllReduce), 1u);
  EXPECT_EQ(shards(kShardElementsMin - 1, even, CallKind::kAllGather), 1u);
  EXPECT_EQ(shards(kShardElementsMin, even, CallKind::kAllGather), 4u);
}

TEST(SharedHierarchy, ARankAloneOnItsHostHasNoPartOnIt) {
  const Groups hosts = {{Rank{0}}, {Rank{1}, Rank{2}}};
  EXPECT_TRUE(KindsOnHost(SharedAllReduce(hosts, 1, Between::kDirect, Rank{0}, 5)).empty());
  EXPECT_EQ(KindsOnHost(SharedAllReduce(hosts, 1, Between::kDirect, Rank{2}, 5)),
            (std::vector{CallKind::kReduce, CallKind::kBroadcast}));
}

TEST(SharedHierarchy, ElementsThatAreLeftOverAreTheLastRanksToo) {
  const Groups hosts = EvenGroups(8, 2);
  const auto kinds = [&](std::size_t count) {
    return KindsOnHost(SharedAllReduce(hosts, 4, Between::kRing, Rank{0}, count));
  };
  EXPECT_EQ(kinds(40), (std::vector{CallKind::kReduceScatter, CallKind::kAllGather}));
  EXPECT_EQ(kinds(43), (std::vector{CallKind::kReduceScatter, CallKind::kReduce,
                                    CallKind::kAllGather, CallKind::kBroadcast}));
}

TEST(SharedHierarchy, TheOrderOfRanksDecidesWhetherBlocksOfAHostLieTogether) {
  EXPECT_TRUE(AreInRankOrder(EvenGroups(6, 3)));
  EXPECT_FALSE(AreInRankOrder(EvenGroups(7, 3)));
  EXPECT_FALSE(AreInRankOrder({{Rank{0}, Rank{2}}, {Rank{1}, Rank{3}}}));
}

TEST(SharedHierarchy, IsReadAsText) {
  const std::string text =
      ToText(SharedReduce(EvenGroups(4, 2), Between::kDirect, Rank{2}, Rank{1}, 8));
  EXPECT_THAT(text,
              HasSubstr("reduce of 8 elements through the memory of the host to its place 0"));
  EXPECT_THAT(text, HasSubstr("send 8 elements at scratch 0 to rank 1"));
}

}  // namespace
}  // namespace ringlet::collective
