#include "collective/call/wait_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "collective/call/run.hpp"
#include "collective/shm/host_world_for_test.hpp"
#include "collective/shm/shm_collective.hpp"

namespace ringlet::collective {
namespace {

using transport::Arena;

TEST(WaitPolicy, YieldsButDoesNotSpinForOtherHosts) {
  for (const WaitPolicy& usual : {WaitPolicy::WithCores(), WaitPolicy::Sharing()}) {
    const WaitPolicy policy = usual.ForOtherHosts();
    EXPECT_EQ(policy.looks, 0u);
    EXPECT_GT(policy.yields, 0u);
    EXPECT_LE(policy.yields, WaitPolicy::WithCores().yields);
  }
  EXPECT_EQ(WaitPolicy{}.ForOtherHosts().yields, 0u) << "a rank that is to sleep sleeps";
}

TEST(WaitPolicy, PartsAfterLinksUseThePolicyForOtherHosts) {
  auto arena = Arena::Create({.ranks = 2, .slot_bytes = 1024, .stage_bytes = 4096});
  ASSERT_TRUE(arena.ok());
  ShmCollective engine(*arena, 0, WaitPolicy::WithCores());
  const Call call{.kind = CallKind::kBroadcast, .root = Rank{1}};
  using PartOf = ShmCollective::PartOf;
  engine.StartPart(call, Algorithm::kOneShot, FingerprintOf(call, 0), PartOf::kAfterLinks);
  EXPECT_EQ(engine.place()->spinner->wait_policy().looks, 0u);
  EXPECT_GT(engine.place()->spinner->wait_policy().yields, 0u);
}

Status AlwaysFine() {
  return Ok();
}

Status RunOnHost(ShmCollective& engine, const Call& call, const RunPolicy& policy) {
  const transport::ArenaShape& shape = engine.arena().shape();
  engine.Start(call, ExpectedAlgorithm(call, shape.ranks, shape.slot_bytes), 0);
  return RunToEnd(engine, *engine.place()->waiter, policy);
}

// Runs many operations in a row, with one thread per rank and the given way of waiting.
void RunThreads(std::uint32_t ranks, WaitPolicy wait_policy) {
  auto arena = Arena::Create({.ranks = ranks, .slot_bytes = 1024, .stage_bytes = 4096});
  ASSERT_TRUE(arena.ok());
  constexpr std::uint64_t kCounts[] = {1, 100, 5000};
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < ranks; ++self)
    threads.emplace_back([&, self] {
      ShmCollective engine(*arena, self, wait_policy);
      for (int turn = 0; turn < 60; ++turn) {
        std::vector<std::int32_t> data(kCounts[turn % 3]);
        std::iota(data.begin(), data.end(), static_cast<std::int32_t>(self));
        const Call call{.kind = CallKind::kAllReduce,
                        .input = std::as_bytes(std::span(data)),
                        .output = std::as_writable_bytes(std::span(data)),
                        .count = data.size(),
                        .type = DataType::kInt32};
        const Status status = RunOnHost(engine, call, {.check = AlwaysFine});
        ASSERT_TRUE(status.ok()) << status.error().message;
        for (std::size_t i = 0; i < data.size(); ++i)
          ASSERT_EQ(data[i], static_cast<std::int32_t>(ranks * i + ranks * (ranks - 1) / 2));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(WaitPolicy, ThreadsThatSleepFinish) {
  RunThreads(2, {.looks = 0, .yields = 0});
  RunThreads(5, {.looks = 0, .yields = 0});
}
TEST(WaitPolicy, ThreadsThatYieldFinish) {
  RunThreads(5, {.looks = 0, .yields = 100});
}
TEST(WaitPolicy, ThreadsThatSpinFinish) {
  RunThreads(2, {.looks = 200, .yields = 100});
}

TEST(WaitPolicy, RanksThatShareCoresDoNotSpin) {
  EXPECT_EQ(WaitPolicy::Sharing().looks, 0u);
  EXPECT_GT(WaitPolicy::Sharing().yields, 0u);
  EXPECT_GT(WaitPolicy::WithCores().looks, 0u);
}

TEST(Spinner, SpinsThenYieldsThenStops) {
  Spinner spinner({.looks = 2, .yields = 3});
  for (std::uint32_t idle = 0; idle < 5; ++idle) EXPECT_TRUE(spinner.SpinOnce(idle));
  EXPECT_FALSE(spinner.SpinOnce(5));
  EXPECT_FALSE(Spinner().SpinOnce(0));
}

TEST(Spinner, ChecksWhileItSpins) {
  auto arena = Arena::Create({.ranks = 2});
  ASSERT_TRUE(arena.ok());
  ShmCollective engine(*arena, 0, WaitPolicy{.looks = std::numeric_limits<std::uint32_t>::max()});
  const RunPolicy policy{.check = []() -> Status {
                           return Error{Code::kTimeout, "too late"};
                         },
                         .sleep_max = std::chrono::milliseconds(1)};
  EXPECT_FALSE(RunOnHost(engine, {.kind = CallKind::kBarrier}, policy).ok());
}

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Each reading is `step` later than the previous one.
Instant slow_clock_now(1), slow_clock_step(0);
Instant SlowClock() {
  return slow_clock_now += slow_clock_step;
}

TEST(Spinner, SleepsWhereYieldsGiveTheCoreToAnotherProgram) {
  Spinner spinner({.looks = 1, .yields = 100, .clock = &SlowClock});
  slow_clock_step = microseconds(2);
  for (std::uint32_t idle = 0; idle < 101; ++idle) EXPECT_TRUE(spinner.SpinOnce(idle));
  slow_clock_step = milliseconds(2);
  EXPECT_TRUE(spinner.SpinOnce(1)) << "uses up what the short yields have saved";
  EXPECT_TRUE(spinner.SpinOnce(0));  // polls cost the other program nothing
  EXPECT_FALSE(spinner.SpinOnce(1));
  slow_clock_step *= 4;
  EXPECT_TRUE(spinner.SpinOnce(1));  // it yields again
}

TEST(Spinner, SleepsAfterEightTurnsOfOtherRanks) {
  Spinner spinner({.looks = 1, .yields = 1000, .clock = &SlowClock});
  slow_clock_step = WaitPolicy{}.turn;
  std::uint32_t idle = 0;
  while (spinner.SpinOnce(idle)) ++idle;
  EXPECT_GE(idle, 3u);
  EXPECT_LE(idle, 9u);
  EXPECT_FALSE(spinner.SpinOnce(idle + 1)) << "a wait that goes on";
  EXPECT_TRUE(spinner.SpinOnce(1)) << "the next wait";
}

// Yields as often as the meter permits, each of which takes `took`. Returns their number.
int YieldFor(YieldMeter& meter, Instant& now, Instant duration, Instant took) {
  int yields = 0;
  for (const Instant end = now + duration; now < end; now += microseconds(50)) {
    if (!meter.TryYield(now)) continue;
    meter.RecordYield(now, now + took);
    now += took;
    ++yields;
  }
  return yields;
}

// Ranks take turns at the core, with an occasional tick of the scheduler.
TEST(YieldMeter, ShortYieldsEarnCreditForALongYield) {
  YieldMeter meter;
  Instant now(0);
  for (int turn = 0; turn < 100'000; ++turn) {
    const Instant took = turn % 1000 == 999 ? milliseconds(4) : microseconds(2);
    ASSERT_TRUE(meter.TryYield(now)) << turn;
    meter.RecordYield(now, now + took);
    now += took;
  }
}

// Ranks that copy data for each other hold the core for longer than a sleep would have cost, from
// the first yield on.
TEST(YieldMeter, KeepsYieldingToRanksThatCopy) {
  YieldMeter meter;
  Instant now(0);
  for (const int us : {50, 300, 100, 300, 200}) {
    ASSERT_TRUE(meter.TryYield(now)) << us;
    meter.RecordYield(now, now + microseconds(us));
    now += microseconds(us);
  }
  EXPECT_TRUE(meter.TryYield(now));
}

// A rank that is alone on its core yields thousands of times for nothing.
TEST(YieldMeter, YieldsThatReturnAtOnceDoNotPayForLongOnes) {
  YieldMeter meter;
  Instant now(0);
  for (int i = 0; i < 100'000; ++i) meter.RecordYield(now, now + Instant(200));
  meter.RecordYield(now, now + milliseconds(3));
  EXPECT_FALSE(meter.TryYield(now + milliseconds(3)));
}

// Beside a program that computes without end, a longer pause follows each yield.
TEST(YieldMeter, SpendsUnderAPercentBesideABusyProgram) {
  YieldMeter meter;
  Instant now(0);
  const int yields = YieldFor(meter, now, std::chrono::seconds(100), milliseconds(3));
  EXPECT_LT(yields * milliseconds(3), now / 100);
  EXPECT_GT(yields, 100);
}

// With 64 ranks on each core, the core is with other ranks for that long.
TEST(YieldMeter, ManyRanksOnACoreMakeATurnLonger) {
  const Instant turn = WaitPolicy::Sharing(64).turn;
  EXPECT_GT(turn, milliseconds(2));
  EXPECT_EQ(WaitPolicy::Sharing(2).turn, WaitPolicy{}.turn);
  EXPECT_EQ(WaitPolicy::Sharing(64).ForOtherHosts().turn, turn);
  Spinner spinner({.looks = 0, .yields = 1000, .clock = &SlowClock, .turn = turn});
  slow_clock_step = milliseconds(2);
  EXPECT_TRUE(spinner.SpinOnce(0));
  EXPECT_TRUE(spinner.SpinOnce(1));
}

TEST(YieldMeter, PausesFourTimesAsLongAsTheLastYieldTookThenEight) {
  YieldMeter meter;
  Instant begin = milliseconds(20);
  meter.RecordYield(begin, begin + milliseconds(1));
  EXPECT_FALSE(meter.TryYield(begin + milliseconds(5) - Instant(1)));
  begin += milliseconds(5);
  EXPECT_TRUE(meter.TryYield(begin));
  meter.RecordYield(begin, begin + milliseconds(1));
  EXPECT_FALSE(meter.TryYield(begin + milliseconds(9) - Instant(1)));
  EXPECT_TRUE(meter.TryYield(begin + milliseconds(9)));
}

TEST(YieldMeter, PausesForASecondAtMost) {
  YieldMeter meter;
  meter.RecordYield(milliseconds(0), std::chrono::seconds(5));
  EXPECT_FALSE(meter.TryYield(std::chrono::seconds(6) - milliseconds(1)));
  EXPECT_TRUE(meter.TryYield(std::chrono::seconds(6)));
}

TEST(YieldMeter, ForgetsFailuresOnceItsCreditIsFull) {
  YieldMeter meter;
  Instant now(0);
  YieldFor(meter, now, std::chrono::seconds(10), milliseconds(3));
  const auto length_of_a_pause = [&] {
    meter.RecordYield(now, now + milliseconds(20));
    const Instant begin = now += milliseconds(20);
    while (!meter.TryYield(now)) now += microseconds(100);
    meter.RecordYield(now, now + microseconds(1));
    return now - begin;
  };
  while (!meter.TryYield(now)) now += milliseconds(1);
  EXPECT_EQ(length_of_a_pause(), YieldMeter::kPauseMax);
  const auto enough = YieldMeter::kCreditMax / YieldMeter::kWorth + 1;
  for (int i = 0; i < enough; ++i) meter.RecordYield(now, now + YieldMeter::kWorth);
  EXPECT_EQ(length_of_a_pause(), 4 * milliseconds(20));
}

TEST(YieldMeter, OneRankYieldsForAllRanksOfItsHost) {
  constexpr int kRanks = 8;
  YieldPause pause{0};
  std::array<YieldMeter, kRanks> ranks;
  for (YieldMeter& rank : ranks) rank.Share(pause);
  ranks[3].RecordYield(Instant(0), milliseconds(1));
  const auto permitted = [&](Instant now) {
    std::vector<int> those;
    for (int rank = 0; rank < kRanks; ++rank)
      if (ranks[static_cast<std::size_t>(rank)].TryYield(now)) those.push_back(rank);
    return those;
  };
  EXPECT_THAT(permitted(milliseconds(4)), testing::IsEmpty());
  EXPECT_THAT(permitted(milliseconds(5)), testing::ElementsAre(0));
  EXPECT_THAT(permitted(milliseconds(6)), testing::IsEmpty());
  // It fails, and so does a rank that has yielded all the time.
  ranks[0].RecordYield(milliseconds(5), milliseconds(6));
  ranks[5].RecordYield(milliseconds(0), milliseconds(6));
  EXPECT_THAT(permitted(milliseconds(14) - Instant(1000)), testing::IsEmpty());
  EXPECT_THAT(permitted(milliseconds(14)), testing::ElementsAre(0));
  // It does not return. Another takes its place.
  EXPECT_THAT(permitted(milliseconds(14) + YieldMeter::kProbe), testing::ElementsAre(0));
  ranks[0].RecordYield(milliseconds(24), milliseconds(24) + microseconds(2));
  EXPECT_EQ(permitted(milliseconds(25)).size(), std::size_t{kRanks});
}

// A peer may write anything to the memory of the host.
TEST(YieldMeter, IgnoresPausesThatNoRankWouldBegin) {
  YieldPause pause{~std::uint64_t{0}};
  YieldMeter meter;
  meter.Share(pause);
  EXPECT_TRUE(meter.TryYield(milliseconds(1)));
  meter.RecordYield(milliseconds(1), milliseconds(1) + microseconds(1));
  EXPECT_TRUE(meter.TryYield(milliseconds(2)));
}

TEST(Spinner, EndsWhenTheCheckFails) {
  auto arena = Arena::Create({.ranks = 2});
  ASSERT_TRUE(arena.ok());
  ShmCollective engine(*arena, 0, WaitPolicy{.looks = 1, .yields = 1});
  int asked = 0;
  const RunPolicy policy{.check = [&]() -> Status {
                           if (++asked < 3) return Ok();
                           return Error{Code::kTimeout, "too late"};
                         },
                         .sleep_max = std::chrono::milliseconds(1)};
  const Status status = RunOnHost(engine, {.kind = CallKind::kBarrier}, policy);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "too late");
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace ringlet::collective
