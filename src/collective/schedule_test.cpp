#include "collective/schedule.hpp"

#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

TEST(Schedule, ReadsAsOneStepALine) {
  const Schedule schedule{
      .count = 48,
      .steps = {
          {.kind = StepKind::kSend, .channel = 1, .peer = Rank{2}, .range = {0, 16}},
          {.kind = StepKind::kReceive, .peer = Rank{0}, .range = {16, 16}},
          {.kind = StepKind::kReceiveSum, .peer = Rank{3}, .range = {32, 16}, .finishes = true}}};
  EXPECT_EQ(ToText(schedule),
            "48 elements, 3 steps\n"
            "   0  send 16 elements at 0 to rank 2 on channel 1\n"
            "   1  receive 16 elements at 16 from rank 0 on channel 0\n"
            "   2  receive-sum 16 elements at 32 from rank 3 on channel 0, finishes\n");
}

TEST(Range, OverlapsWhereElementsAreShared) {
  const Range middle{10, 5};
  EXPECT_TRUE(middle.Overlaps({14, 1}));
  EXPECT_FALSE(middle.Overlaps({15, 1}));
  EXPECT_FALSE(middle.Overlaps({0, 10}));
  EXPECT_TRUE(middle.Overlaps({0, 11}));
}

}  // namespace
}  // namespace ringlet::collective
