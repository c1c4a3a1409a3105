// That the schedules are right is proven in algorithm_test.cpp; here, what crosses between hosts.
#include "collective/hierarchy.hpp"

#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

/// Elements that leave host `group`, all its ranks together.
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

TEST(Hierarchical, AsLittleAsPossibleLeavesAHost) {
  const Groups groups = EvenGroups(12, 3);
  EXPECT_EQ(
      Leaving(groups, 0,
              [&](Rank self) { return HierarchicalAllReduce(groups, Between::kRing, self, 120); }),
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
}

}  // namespace
}  // namespace ringlet::collective
