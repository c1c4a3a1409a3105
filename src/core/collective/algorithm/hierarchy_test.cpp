// Checks the data that crosses between hosts. algorithm_test.cpp proves the results.
#include "collective/algorithm/hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringlet::collective {
namespace {

/// Returns the number of elements that all ranks of host `group` send to other hosts.
template <typename Build>
std::size_t Leaving(const Groups& groups, std::size_t group, Build build) {
  std::size_t elements = 0;
  for (const Rank self : groups[group]) {
    const Schedule schedule = build(self);
    for (const Step& step : schedule.steps)
      if (step.kind == StepKind::kSend && PlaceIn(groups, step.peer)->group != group)
        elements += step.count;
  }
  return elements;
}

TEST(Hierarchical, SendsTheFewestElementsOutOfAHost) {
  const Groups groups = EvenGroups(12, 3);
  EXPECT_EQ(Leaving(groups, 0,
                    [&](Rank self) {
                      return HierarchicalAllReduce(groups, 4, Between::kRing, self, 120);
                    }),
            2u * 2 * 120 / 3);
  EXPECT_EQ(Leaving(groups, 0, [&](Rank self) { return HierarchicalAllGather(groups, self, 10); }),
            2u * 4 * 10);
  EXPECT_EQ(
      Leaving(groups, 0, [&](Rank self) { return HierarchicalReduceScatter(groups, self, 10); }),
      2u * 4 * 10);
  EXPECT_EQ(Leaving(groups, 1,
                    [&](Rank self) {
                      return HierarchicalBroadcast(groups, Between::kRing, self, Rank{5}, 10);
                    }),
            10u);
  for (const Between between : {Between::kRing, Between::kDoubling, Between::kDirect})
    EXPECT_EQ(
        Leaving(groups, 0,
                [&](Rank self) { return HierarchicalReduce(groups, between, self, Rank{5}, 10); }),
        10u);
}

TEST(Hierarchical, SmallMessagesLeaveAHostFromASingleRank) {
  const Groups groups = EvenGroups(12, 3);
  const auto senders = [&](std::size_t count) {
    return std::ranges::count_if(groups[1], [&](Rank self) {
      const std::size_t shards = ShardsOf(groups, count);
      const auto schedule = HierarchicalAllReduce(groups, shards, Between::kDoubling, self, count);
      return std::ranges::any_of(schedule.steps, [&](const Step& step) {
        return step.kind == StepKind::kSend && PlaceIn(groups, step.peer)->group != 1;
      });
    });
  };
  EXPECT_EQ(senders(1), 1);
  EXPECT_EQ(senders(2 * kShardElementsMin - 1), 1);
  EXPECT_EQ(senders(2 * kShardElementsMin), 2);
  EXPECT_EQ(senders(100 * kShardElementsMin), 4);
}

}  // namespace
}  // namespace ringlet::collective
