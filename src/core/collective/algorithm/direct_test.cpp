// Checks the peers of each rank. algorithm_test.cpp proves the results.
#include "collective/algorithm/direct.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sim/interpreter/interpreter.hpp"

namespace ringlet::collective {
namespace {

TEST(DirectAllToAll, SendsOnceToEachRankFromTheNextOn) {
  const Schedule schedule = DirectAllToAll({Rank{2}, 5}, 3);
  std::vector<std::uint32_t> sent;
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::kSend) sent.push_back(Index(step.peer));
  }
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{3, 4, 0, 1}));
}

TEST(DirectGather, OnlyTheRootReceives) {
  EXPECT_EQ(DirectGather({Rank{1}, 4}, Rank{1}, 2).steps.size(), 4u);
  EXPECT_EQ(DirectGather({Rank{0}, 4}, Rank{1}, 2).steps.size(), 1u);
  EXPECT_EQ(DirectScatter({Rank{0}, 4}, Rank{1}, 2).steps.size(), 1u);
}

TEST(DirectAllReduce, SendsItsInputToEachRankBeforeItReceives) {
  const std::vector<Rank> order{Rank{3}, Rank{1}, Rank{0}, Rank{2}};
  const Schedule schedule = DirectAllReduce(order, Rank{1}, 5);
  ASSERT_GE(schedule.steps.size(), 3u);
  std::vector<std::uint32_t> sent;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(schedule.steps[i].kind, StepKind::kSend);
    EXPECT_EQ(schedule.steps[i].from, Input());
    sent.push_back(Index(schedule.steps[i].peer));
  }
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST(DirectBroadcast, OnlyTheRootSends) {
  const std::vector<Rank> order{Rank{2}, Rank{0}, Rank{1}};
  const Schedule root = DirectBroadcast(order, Rank{0}, Rank{0}, 5);
  ASSERT_EQ(root.steps.size(), 3u);
  EXPECT_EQ(root.steps[0].peer, Rank{1});
  EXPECT_EQ(root.steps[1].peer, Rank{2});
  EXPECT_EQ(DirectBroadcast(order, Rank{2}, Rank{0}, 5).steps.size(), 1u);
}

TEST(DirectReduce, TheRootReducesAllInputsFromTheNextRankOn) {
  const std::vector<Rank> order{Rank{2}, Rank{0}, Rank{1}};
  const Schedule root = DirectReduce(order, Rank{0}, Rank{0}, 5);
  ASSERT_EQ(root.steps.size(), 2u);
  EXPECT_EQ(root.steps[0].peer, Rank{1});
  EXPECT_EQ(root.steps[1].peer, Rank{2});
  EXPECT_TRUE(root.steps[1].finishes && !root.steps[0].finishes);
  const Schedule other = DirectReduce(order, Rank{2}, Rank{0}, 5);
  EXPECT_EQ(other.steps.size(), 1u);
  EXPECT_EQ(other.output_count, 0u);
}

TEST(DirectAllGather, IsProven) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    std::vector<Schedule> schedules;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      schedules.push_back(DirectAllGather({Rank{rank}, ranks}, 3));
    }
    for (const bool in_place : {false, true}) {
      const Status status = Prove({.kind = CallKind::kAllGather, .count = 3}, schedules,
                                  {.seed = ranks, .in_place = in_place});
      ASSERT_TRUE(status.ok()) << ranks << ": " << status.error().message;
    }
  }
}

}  // namespace
}  // namespace ringlet::collective
