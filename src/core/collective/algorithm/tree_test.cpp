// Checks that the trees are balanced. algorithm_test.cpp proves the results.
#include "collective/algorithm/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ringlet::collective {
namespace {

std::vector<Rank> Ascending(std::uint32_t ranks) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  return order;
}

std::size_t ElementsSent(const Schedule& schedule) {
  std::size_t elements = 0;
  for (const Step& step : schedule.steps)
    if (step.kind == StepKind::kSend) elements += step.count;
  return elements;
}

TEST(BinomialBroadcast, TheRootSendsLogarithmicMessagesFurthestFirst) {
  const Schedule schedule = BinomialBroadcast(Ascending(8), Rank{2}, Rank{2}, 5);
  ASSERT_EQ(schedule.steps.size(), 4u);
  EXPECT_EQ(schedule.steps[0].peer, Rank{6});
  EXPECT_EQ(schedule.steps[1].peer, Rank{4});
  EXPECT_EQ(schedule.steps[2].peer, Rank{3});
}

TEST(DoubleTree, NoRankSendsMoreThanTheWholeData) {
  for (const std::uint32_t ranks : {5u, 8u, 13u, 64u}) {
    for (const Rank self : Ascending(ranks)) {
      EXPECT_LE(ElementsSent(DoubleTreeBroadcast(Ascending(ranks), self, Rank{3}, 100)), 100u);
      EXPECT_LE(ElementsSent(DoubleTreeReduce(Ascending(ranks), self, Rank{3}, 100)), 100u);
      EXPECT_LE(ElementsSent(DoubleTreeAllReduce(Ascending(ranks), self, 100)), 200u);
    }
  }
}

}  // namespace
}  // namespace ringlet::collective
