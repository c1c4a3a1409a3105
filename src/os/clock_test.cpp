#include "os/clock.hpp"

#include <gmock/gmock.h>

namespace ringlet::os {
namespace {

TEST(ClockTest, NeverZeroAndNeverBackwards) {
  const Instant first = Now();
  EXPECT_GT(first, Instant(0));
  EXPECT_GE(Now(), first);
}

TEST(ClockTest, WallTimeHasTheShapeOfALogLine) {
  EXPECT_THAT(WallTimeText(), testing::MatchesRegex(
                                  "[0-9]+-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]"));
}

}  // namespace
}  // namespace ringlet::os
