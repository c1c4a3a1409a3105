#include "watcher/trace/clocks.hpp"

#include <gtest/gtest.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

constexpr Instant kAhead = std::chrono::hours(3);

/// The same rank on another host with a clock ahead.
RankTrace OnOtherHost(RankTrace trace) {
  trace.host = "node1";
  trace.host_hash = "2";
  trace.taken += kAhead;
  for (RecordedOperation& operation : trace.operations) {
    if (operation.began > Instant(0)) operation.began += kAhead;
    if (operation.ended > Instant(0)) operation.ended += kAhead;
  }
  return trace;
}

TEST(AlignClocks, RanksOfAHostShareTheirClock) {
  const auto shifts = AlignClocks({TraceForTest(0, 2, 3), TraceForTest(1, 2, 3, Instant(9000))});
  EXPECT_EQ(shifts, std::vector<ClockShift>(2));
}

TEST(AlignClocks, ShiftsAnotherHostWithinTheTimeOfAnOperation) {
  const auto shifts =
      AlignClocks({TraceForTest(0, 2, 10), OnOtherHost(TraceForTest(1, 2, 10, Instant(1010)))});
  ASSERT_TRUE(shifts[1].error.has_value());
  // No operation ends before the other rank has begun it: 50 ns less 10 ns either way.
  EXPECT_LE(*shifts[1].error, Instant(50));
  EXPECT_LE(std::chrono::abs(shifts[1].shift + kAhead), *shifts[1].error);
}

TEST(AlignClocks, EstimatesUnmeasuredTimesFromTheirNeighbours) {
  RankTrace other = OnOtherHost(TraceForTest(1, 2, 10));
  for (std::size_t i = 1; i + 1 < other.operations.size(); ++i)
    other.operations[i].began = other.operations[i].ended = Instant(0);
  const auto shifts = AlignClocks({TraceForTest(0, 2, 10), other});
  ASSERT_TRUE(shifts[1].error.has_value());
  EXPECT_LE(std::chrono::abs(shifts[1].shift + kAhead), *shifts[1].error);
}

TEST(AlignClocks, WithoutACommonOperationTakesTheHostClocks) {
  RankTrace other = OnOtherHost(TraceForTest(1, 2, 3));
  for (RecordedOperation& operation : other.operations) operation.call = "broadcast";
  const auto shifts = AlignClocks({TraceForTest(0, 2, 3), other});
  EXPECT_FALSE(shifts[1].error.has_value());
  EXPECT_EQ(shifts[1].shift, -kAhead);
}

}  // namespace
}  // namespace ringlet::watch
