#include "collective/call/wait_policy.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

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
  slow_clock_step = YieldMeter::kCreditMax + microseconds(100);
  std::uint32_t idle = 1;
  while (spinner.SpinOnce(idle)) ASSERT_LT(++idle, 20u) << "each of these yields takes so long";
  EXPECT_TRUE(spinner.SpinOnce(0));  // polls cost the other program nothing
  EXPECT_FALSE(spinner.SpinOnce(1));
  slow_clock_step *= 4;
  EXPECT_TRUE(spinner.SpinOnce(1));  // it yields again
}

// Ranks take turns at the core, with an occasional tick of the scheduler.
TEST(YieldMeter, ShortYieldsEarnCreditForALongYield) {
  YieldMeter meter;
  Instant now(0);
  for (int turn = 0; turn < 100'000; ++turn) {
    const Instant took = turn % 1000 == 999 ? milliseconds(4) : microseconds(2);
    ASSERT_TRUE(meter.Pays(now)) << turn;
    meter.RecordYield(now, now + took);
    now += took;
  }
}

// Beside a program that computes without end, a longer pause follows each yield.
TEST(YieldMeter, SpendsUnderAPercentBesideABusyProgram) {
  YieldMeter meter;
  Instant now(0), yielded(0);
  std::uint32_t yields = 0;
  while (now < std::chrono::seconds(100)) {
    if (meter.Pays(now)) {
      meter.RecordYield(now, now + milliseconds(3));
      now += milliseconds(3);
      yielded += milliseconds(3);
      ++yields;
    }
    now += microseconds(50);
  }
  EXPECT_LT(yielded, now / 100);
  EXPECT_GT(yields, 100u);
}

TEST(YieldMeter, PausesFourTimesAsLongAsTheLastYieldTookThenEight) {
  YieldMeter meter;
  meter.RecordYield(milliseconds(0), YieldMeter::kCreditMax);
  EXPECT_TRUE(meter.Pays(YieldMeter::kCreditMax));
  const Instant begin = milliseconds(20);
  meter.RecordYield(begin, begin + milliseconds(1));
  EXPECT_FALSE(meter.Pays(begin + milliseconds(5) - Instant(1)));
  EXPECT_TRUE(meter.Pays(begin + milliseconds(5)));
  meter.RecordYield(begin, begin + milliseconds(1));
  EXPECT_FALSE(meter.Pays(begin + milliseconds(9) - Instant(1)));
  EXPECT_TRUE(meter.Pays(begin + milliseconds(9)));
}

TEST(YieldMeter, ForgetsFailuresOnceItsCreditIsFull) {
  YieldMeter meter;
  for (int turn = 0; turn < 20; ++turn) meter.RecordYield(milliseconds(0), milliseconds(1));
  EXPECT_FALSE(meter.Pays(milliseconds(1 + YieldMeter::kLastFactor) - Instant(1)));
  EXPECT_TRUE(meter.Pays(milliseconds(1 + YieldMeter::kLastFactor)));
  for (Instant saved(0); saved < YieldMeter::kCreditMax; saved += microseconds(9))
    meter.RecordYield(milliseconds(200), milliseconds(200) + microseconds(1));
  meter.RecordYield(milliseconds(200),
                    milliseconds(200) + YieldMeter::kCreditMax + microseconds(11));
  EXPECT_FALSE(meter.Pays(milliseconds(220)));
  EXPECT_TRUE(meter.Pays(milliseconds(210) + 4 * (YieldMeter::kCreditMax + microseconds(11)) +
                         microseconds(11)));
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
