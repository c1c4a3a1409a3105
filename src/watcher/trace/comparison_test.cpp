#include "watcher/trace/comparison.hpp"

#include <gmock/gmock.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

std::string DivergenceText(const std::vector<RankTrace>& traces) {
  const auto divergence = FirstDivergence(traces);
  return divergence ? ToText(*divergence) : "none";
}

TEST(FirstDivergence, EqualCallsGiveNoDivergence) {
  EXPECT_EQ(DivergenceText({}), "none");
  EXPECT_EQ(DivergenceText({TraceForTest(0, 2, 5), TraceForTest(1, 2, 5)}), "none");
}

TEST(FirstDivergence, ReportsARankThatNeverCalledTheOperation) {
  EXPECT_EQ(DivergenceText({TraceForTest(0, 3, 5), TraceForTest(1, 3, 4), TraceForTest(2, 3, 5)}),
            "operation 4: ranks 0, 2 called all_reduce of 2 float sum, rank 1 never called it");
  EXPECT_EQ(DivergenceText({TraceForTest(0, 2, 0), TraceForTest(1, 2, 1)}),
            "operation 0: rank 0 never called it, rank 1 called all_reduce of 2 float sum");
}

TEST(FirstDivergence, ReportsTheFirstDifference) {
  RankTrace other = TraceForTest(1, 2, 5);
  other.operations[2].count = 3;
  other.operations[4].call = "barrier";
  EXPECT_EQ(DivergenceText({TraceForTest(0, 2, 5), other}),
            "operation 2: rank 0 called all_reduce of 2 float sum, rank 1 called all_reduce of 3 "
            "float sum");
}

// A root of broadcasts runs ahead; its failure may reach a slow rank before the first of them.
TEST(FirstDivergence, DifferentCallsPrecedeMissingCalls) {
  RankTrace other = TraceForTest(1, 3, 5);
  other.operations[4].count = 3;
  EXPECT_EQ(DivergenceText({TraceForTest(0, 3, 5), other, TraceForTest(2, 3, 1)}),
            "operation 4: rank 0 called all_reduce of 2 float sum, rank 1 called all_reduce of 3 "
            "float sum, rank 2 never called it");
}

TEST(FirstDivergence, IgnoresOperationsThatSomeTraceLacks) {
  RankTrace late = TraceForTest(1, 2, 5);
  late.operations.erase(late.operations.begin(), late.operations.begin() + 3);
  RankTrace other = TraceForTest(0, 2, 5);
  other.operations[2].count = 3;
  EXPECT_EQ(DivergenceText({other, late}), "none");
  other.operations[3].count = 3;
  EXPECT_NE(DivergenceText({other, late}), "none");
}

TEST(FirstDivergence, ARankInsideAnOperationHasNotSkippedTheNext) {
  EXPECT_EQ(DivergenceText({TraceForTest(0, 2, 5), Waiting(TraceForTest(1, 2, 3))}), "none");
  RankTrace other = TraceForTest(2, 3, 5);
  other.operations[4].count = 3;
  EXPECT_EQ(DivergenceText({TraceForTest(0, 3, 5), Waiting(TraceForTest(1, 3, 3)), other}),
            "operation 4: rank 0 called all_reduce of 2 float sum, rank 2 called all_reduce of 3 "
            "float sum");
}

TEST(FirstDivergence, IgnoresMessages) {
  RankTrace other = TraceForTest(1, 2, 2);
  other.operations.push_back({.number = 2,
                              .sequence = 2,
                              .call = "send_receive",
                              .count = 1,
                              .type = "float",
                              .root = 0,
                              .peer = 0,
                              .bytes = 4,
                              .messages = 1,
                              .progress = OperationState::kDone});
  EXPECT_EQ(DivergenceText({TraceForTest(0, 2, 2), other}), "none");
}

TEST(FirstDivergence, ADamagedSequenceEndsTheComparison) {
  RankTrace a = TraceForTest(0, 2, 2), b = TraceForTest(1, 2, 2);
  a.operations[1].sequence = b.operations[1].sequence = std::uint64_t{1} << 63;
  EXPECT_EQ(DivergenceText({a, b}), "none");
}

TEST(LatenessOf, NamesTheRankThatBeginsLast) {
  RankTrace late = TraceForTest(2, 3, 10);
  for (RecordedOperation& operation : late.operations) operation.began += Instant(20);
  late.operations[4].began += Instant(15);
  const std::vector<RankTrace> traces = {TraceForTest(0, 3, 10), TraceForTest(1, 3, 10), late};
  const Lateness lateness = LatenessOf(traces, AlignClocks(traces));
  EXPECT_EQ(lateness.compared, 10u);
  ASSERT_EQ(lateness.ranks.size(), 1u);
  EXPECT_EQ(lateness.ranks[0].rank, 2u);
  EXPECT_EQ(lateness.ranks[0].times_last, 10u);
  EXPECT_EQ(lateness.ranks[0].late, Instant(215));
  EXPECT_EQ(lateness.operations[0].call.sequence, 4u);
  EXPECT_EQ(lateness.operations[0].late, Instant(35));
  EXPECT_EQ(lateness.operations[0].took, Instant(50));
}

TEST(LatenessOf, AppliesClockShifts) {
  const std::vector<RankTrace> traces = {TraceForTest(0, 2, 1), TraceForTest(1, 2, 1)};
  const Lateness lateness = LatenessOf(traces, {ClockShift{}, ClockShift{.shift = Instant(-30)}});
  ASSERT_EQ(lateness.ranks.size(), 1u);
  EXPECT_EQ(lateness.ranks[0].rank, 0u);
  EXPECT_EQ(lateness.ranks[0].late, Instant(30));
}

TEST(LatenessOf, ASingleMeasurementIsNotCompared) {
  RankTrace other = TraceForTest(1, 2, 3);
  for (RecordedOperation& operation : other.operations) operation.began = Instant(0);
  const std::vector<RankTrace> traces = {TraceForTest(0, 2, 3), other};
  EXPECT_EQ(LatenessOf(traces, AlignClocks(traces)).compared, 0u);
}

}  // namespace
}  // namespace ringlet::watch
