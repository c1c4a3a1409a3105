#include "comm/control/recorder.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <latch>
#include <new>
#include <thread>

namespace ringlet::comm {
namespace {

using collective::CallKind;
using collective::Fingerprint;
using testing::ElementsAre;
using testing::Field;
using watch::OperationState;
using watch::RecordedOperation;

constexpr std::uint64_t kLong = FlightRecorder::kTimedBytes;

Fingerprint SumAt(std::uint64_t sequence) {
  return {.sequence = sequence, .count = 2};
}

TEST(FlightRecorder, IsEmptyAtFirst) {
  const FlightRecorder recorder;
  EXPECT_TRUE(recorder.Last().empty());
  EXPECT_FALSE(recorder.call().has_value());
  EXPECT_FALSE(recorder.header().has_value());
  EXPECT_EQ(recorder.operations, 0u);
  EXPECT_TRUE(recorder.counts().calls.empty());
}

TEST(FlightRecorder, RecordsTheBeginningAndEndOfAnOperation) {
  const Instant before = os::Now();
  FlightRecorder recorder;
  recorder.set_rank(Rank{3});
  const Fingerprint call{.sequence = 0,
                         .operation = CallKind::kReduce,
                         .type = DataType::kInt32,
                         .op = ReduceOp::kMax,
                         .count = 8,
                         .root = Rank{2}};
  recorder.Begin(call, 32);
  EXPECT_EQ(recorder.operations, 1u);
  EXPECT_EQ(recorder.header(), collective::EncodeHeader(call, Rank{3}));
  RecordedOperation expected{.call = "reduce",
                             .count = 8,
                             .type = "int32",
                             .reduction = "max",
                             .root = 2,
                             .bytes = 32,
                             .progress = OperationState::kBegun};
  auto operations = recorder.Last();
  ASSERT_EQ(operations.size(), 1u);
  EXPECT_GE(operations[0].began, before);
  expected.began = operations[0].began;
  EXPECT_EQ(operations[0], expected);
  recorder.End();
  operations = recorder.Last();
  expected.progress = OperationState::kDone;
  // Each call converts ticks to times anew, with a more precise rate.
  EXPECT_GE(operations[0].began, before);
  EXPECT_GE(operations[0].ended, operations[0].began);
  EXPECT_LE(operations[0].ended, os::Now());
  expected.began = operations[0].began;
  expected.ended = operations[0].ended;
  EXPECT_EQ(operations[0], expected);
  EXPECT_EQ(recorder.done(), 1u);
}

TEST(FlightRecorder, RecordsWhenAnOperationWasEnqueued) {
  FlightRecorder recorder;
  recorder.set_enqueued(os::Ticks());
  recorder.Begin(SumAt(0), kLong);
  recorder.End();
  recorder.set_enqueued(0);
  recorder.Begin(SumAt(1), kLong);
  const auto operations = recorder.Last();
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_GT(operations[0].enqueued, Instant(0));
  EXPECT_LE(operations[0].enqueued, operations[0].began);
  EXPECT_EQ(operations[1].enqueued, Instant(0));
}

TEST(FlightRecorder, DistinguishesMessagesFromCollectives) {
  FlightRecorder recorder;
  const Fingerprint message{
      .sequence = 4, .operation = CallKind::kSendReceive, .count = 2, .root = Rank{1}};
  recorder.Begin(message, 16, 2, Rank{1});
  EXPECT_EQ(recorder.operations, 0u);
  const auto operations = recorder.Last();
  ASSERT_EQ(operations.size(), 1u);
  EXPECT_EQ(operations[0].messages, 2u);
  EXPECT_EQ(operations[0].peer, 1u);
  EXPECT_EQ(operations[0].sequence, 4u);
}

TEST(FlightRecorder, LongOperationsAreTimedAndShortOnesWhileTheyWait) {
  FlightRecorder recorder;
  const Instant before = os::Now();
  recorder.Begin(SumAt(0), kLong);
  recorder.End();
  recorder.Begin(SumAt(1), 8);
  recorder.End();
  recorder.Begin(SumAt(2), 8);
  recorder.Waits();
  recorder.End();
  const Instant after = os::Now();
  const auto operations = recorder.Last();
  ASSERT_EQ(operations.size(), 3u);
  EXPECT_GE(operations[0].began, before);
  EXPECT_GE(operations[0].ended, operations[0].began);
  EXPECT_EQ(operations[1].began, Instant(0)) << "it was over at once";
  EXPECT_EQ(operations[1].ended, Instant(0));
  EXPECT_GE(operations[2].began, operations[0].ended);
  EXPECT_EQ(operations[2].ended, Instant(0)) << "it did not wait for long";
  EXPECT_LE(operations[2].began, after);
}

TEST(FlightRecorder, TimesAFixedFractionOfShortOperations) {
  FlightRecorder recorder;
  for (std::uint64_t i = 0; i <= FlightRecorder::kTimedEvery; ++i) {
    recorder.Begin(SumAt(i), 8);
    recorder.End();
  }
  const auto operations = recorder.Last();
  EXPECT_GT(operations.front().began, Instant(0));
  EXPECT_GT(operations.back().began, Instant(0));
  EXPECT_GT(operations.back().ended, Instant(0));
  EXPECT_EQ(operations[1].began, Instant(0));
}

TEST(FlightRecorder, KeepsTheLastOperations) {
  FlightRecorder recorder;
  constexpr std::uint64_t kCalls = FlightRecorder::kOperationsKept * 2 + 10;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    recorder.Begin(SumAt(i), 8);
    recorder.End();
  }
  const auto operations = recorder.Last();
  // The slot of the next call counts as being written.
  ASSERT_EQ(operations.size(), FlightRecorder::kOperationsKept - 1);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    EXPECT_EQ(operations[i].number, kCalls - operations.size() + i);
    EXPECT_EQ(operations[i].sequence, operations[i].number);
  }
  EXPECT_THAT(recorder.Last(2), ElementsAre(Field(&RecordedOperation::number, kCalls - 2),
                                            Field(&RecordedOperation::number, kCalls - 1)));
}

TEST(FlightRecorder, WaitsAreCountedByPeer) {
  FlightRecorder recorder;
  const auto at = [](int seconds) { return os::Now() + std::chrono::seconds(seconds - 1000); };
  recorder.Begin(SumAt(0), 8);
  recorder.WaitsFor(Rank{1}, at(0));
  EXPECT_EQ(recorder.waits_for, 1);
  recorder.WaitsFor(Rank{1}, at(3));
  recorder.WaitsFor(Rank{2}, at(5));
  recorder.End();
  EXPECT_EQ(recorder.waits_for, -1);
  const watch::OperationCounts counts = recorder.counts();
  ASSERT_EQ(counts.waited.size(), 2u);
  EXPECT_EQ(counts.waited[0].first, 1u);
  EXPECT_GE(counts.waited[0].second, std::chrono::seconds(5));
  EXPECT_LT(counts.waited[0].second, std::chrono::seconds(6));
  EXPECT_GE(counts.waited[1].second, std::chrono::seconds(990));
  EXPECT_EQ(counts.wait_times.waits.back(), 1u) << "more than 100 s";
  EXPECT_GT(recorder.Last().back().ended, Instant(0)) << "a long wait is timed";
}

TEST(FlightRecorder, OperationsAreCountedByCallAndSize) {
  FlightRecorder recorder;
  recorder.Begin(SumAt(0), 8);
  recorder.End();
  recorder.Begin(SumAt(1), 4096);
  recorder.End();
  recorder.Begin({.sequence = 2, .operation = CallKind::kBarrier}, 0);
  recorder.End();
  const watch::OperationCounts counts = recorder.counts();
  ASSERT_EQ(counts.calls.size(), 2u);
  EXPECT_EQ(counts.calls[0].call, "all_reduce");
  EXPECT_EQ(counts.calls[0].bytes, 4104u);
  EXPECT_EQ(counts.calls[0].operations(), 2u);
  EXPECT_EQ(counts.calls[0].sizes[watch::SizeBucketOf(8)], 1u);
  EXPECT_EQ(counts.calls[1].call, "barrier");
}

TEST(FlightRecorder, RecordsAShortCollectiveAfterItsFirstStep) {
  FlightRecorder recorder;
  recorder.Begin(SumAt(0), 8);
  recorder.End();
  const Fingerprint waits = SumAt(1), over_at_once = SumAt(2);
  recorder.BeginWithStep(waits, 8);
  EXPECT_EQ(recorder.begun(), 1u);
  EXPECT_EQ(recorder.call()->sequence, 0u);
  recorder.Waits();
  EXPECT_EQ(recorder.begun(), 2u);
  EXPECT_EQ(recorder.operations, 2u);
  EXPECT_EQ(recorder.call(), waits);
  recorder.WaitsFor(Rank{1}, os::Now());
  EXPECT_EQ(recorder.begun(), 2u) << "once";
  recorder.End();
  recorder.BeginWithStep(over_at_once, 32);
  recorder.End();
  EXPECT_EQ(recorder.begun(), 3u);
  EXPECT_EQ(recorder.done(), 3u);
  EXPECT_EQ(recorder.call(), over_at_once);
  EXPECT_EQ(recorder.counts().calls.front().operations(), 3u);
  EXPECT_EQ(recorder.counts().calls.front().bytes, 48u);
}

// Covers a group that fails between the two.
TEST(FlightRecorder, DropsACollectiveThatEndsBeforeItsFirstStep) {
  FlightRecorder recorder;
  recorder.Begin(SumAt(0), 8);
  recorder.End();
  const Fingerprint given_up = SumAt(1), next = SumAt(2);
  recorder.BeginWithStep(given_up, 8);
  recorder.Begin(next, 8, 1, Rank{1});
  recorder.End();
  EXPECT_EQ(recorder.begun(), 2u);
  EXPECT_EQ(recorder.call(), next);
  EXPECT_EQ(recorder.operations, 1u) << "the next one is a message";
  recorder.BeginWithStep(given_up, 8);
  recorder.BeginWithStep(next, kLong);
  recorder.End();
  EXPECT_EQ(recorder.begun(), 3u);
}

TEST(FlightRecorder, RecordsATimedCollectiveBeforeItsFirstStep) {
  FlightRecorder recorder;
  const Fingerprint one_in_many = SumAt(0), large = SumAt(1);
  recorder.BeginWithStep(one_in_many, 8);
  EXPECT_EQ(recorder.begun(), 1u);
  recorder.End();
  recorder.BeginWithStep(large, kLong);
  EXPECT_EQ(recorder.begun(), 2u);
  recorder.Waits();
  recorder.End();
  const auto last = recorder.Last();
  ASSERT_EQ(last.size(), 2u);
  for (const RecordedOperation& one : last) {
    EXPECT_GT(one.began, Instant(0)) << one.number;
    EXPECT_GE(one.ended, one.began) << one.number;
  }
}

// Another thread reads while the rank's thread writes the next operations.
TEST(FlightRecorder, ReadersSeeNoPartlyWrittenRecord) {
  FlightRecorder recorder;
  constexpr std::uint64_t kCalls = 300'000;
  std::latch begun(2);
  std::thread writer([&] {
    begun.arrive_and_wait();
    for (std::uint64_t i = 0; i < kCalls; ++i) {
      recorder.Begin({.sequence = i, .count = i}, i);
      recorder.End();
    }
  });
  begun.arrive_and_wait();
  std::uint64_t mixed = 0;
  while (recorder.done() < kCalls) {
    if (const auto call = recorder.call()) mixed += call->sequence != call->count;
    for (const RecordedOperation& one : recorder.Last())
      mixed += one.number != one.sequence || one.number != one.count || one.number != one.bytes;
  }
  writer.join();
  EXPECT_EQ(mixed, 0u);
  EXPECT_EQ(recorder.call()->sequence, kCalls - 1);
}

// AddressSanitizer needs memory of its own, so a limit of 0 ends the process there.
#ifndef __SANITIZE_ADDRESS__
TEST(FlightRecorder, ThrowsBadAllocWithoutMemory) {
  const auto without_memory = [] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_AS, &none) != 0) ::_exit(2);
    try {
      const FlightRecorder recorder;
    } catch (const std::bad_alloc&) {
      ::_exit(0);
    }
    ::_exit(1);
  };
  EXPECT_EXIT(without_memory(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace ringlet::comm
