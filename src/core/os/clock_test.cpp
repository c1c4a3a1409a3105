#include "os/clock.hpp"

#include <gmock/gmock.h>

namespace ringlet::os {
namespace {

TEST(ClockTest, NowIsPositiveAndMonotonic) {
  const Instant first = Now();
  EXPECT_GT(first, Instant(0));
  EXPECT_GE(Now(), first);
}

TEST(ClockTest, ComputingTakesCpuTime) {
  const Instant before = ProcessCpuTime();
  // Bounds the loop in case the clock stands still.
  volatile std::uint64_t rounds = 0;
  while (rounds < 4'000'000'000 && ProcessCpuTime() - before < std::chrono::milliseconds(1))
    rounds = rounds + 1;
  EXPECT_GE(ProcessCpuTime() - before, std::chrono::milliseconds(1));
}

TEST(ClockTest, WallTimeHasTheFormatOfALogLine) {
  EXPECT_THAT(WallTimeText(), testing::MatchesRegex(
                                  "[0-9]+-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]"));
}

}  // namespace
}  // namespace ringlet::os
