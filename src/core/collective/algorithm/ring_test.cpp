// Checks the cost of the schedules. sim/interpreter/interpreter_test.cpp proves their results.
#include "collective/algorithm/ring.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ringlet::collective {
namespace {

std::vector<Rank> RingOrder(std::uint32_t ranks) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  return order;
}

TEST(RingAllReduce, SendsTheFewestElements) {
  const std::size_t ranks = 7;
  const std::size_t count = 70;
  for (const Rank self : RingOrder(7)) {
    std::size_t sent = 0;
    const Schedule schedule = RingAllReduce(RingOrder(ranks), self, count);
    for (const Step& step : schedule.steps) {
      if (step.kind == StepKind::kSend) sent += step.count;
    }
    EXPECT_EQ(sent, 2 * (ranks - 1) * count / ranks);
    EXPECT_EQ(schedule.steps.size(), 4 * (ranks - 1));
  }
}

TEST(Rings, SendToNeighboursOnly) {
  const std::vector<Rank> order = {Rank{3}, Rank{0}, Rank{2}, Rank{1}};
  for (const Schedule& schedule :
       {RingAllReduce(order, Rank{0}, 8), RingAllGather(order, Rank{0}, 8),
        RingReduceScatter(order, Rank{0}, 8), RingBroadcast(order, Rank{0}, Rank{2}, 8),
        RingReduce(order, Rank{0}, Rank{2}, 8)}) {
    for (const Step& step : schedule.steps) {
      if (!Communicates(step.kind)) continue;
      EXPECT_EQ(step.peer, step.kind == StepKind::kSend ? Rank{2} : Rank{3});
    }
  }
}

TEST(RingAllReduce, SendsToNeighboursEvenWithoutElements) {
  const Schedule schedule = RingAllReduce(RingOrder(4), Rank{0}, 0);
  EXPECT_FALSE(schedule.steps.empty());
  for (const Step& step : schedule.steps) EXPECT_EQ(step.count, 0u);
}

TEST(RingAllReduce, CopiesOnlyForASingleRank) {
  const Schedule schedule = RingAllReduce(RingOrder(1), Rank{0}, 100);
  ASSERT_EQ(schedule.steps.size(), 1u);
  EXPECT_EQ(schedule.steps[0].kind, StepKind::kCopy);
}

}  // namespace
}  // namespace ringlet::collective
