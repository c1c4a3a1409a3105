#include "tool/sim/sim_run.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

SimRow Simulated(SimWords words, std::uint32_t size) {
  words.ranks = std::to_string(size);
  words.timeout = "10s";
  const SimOptions options = ParseSimOptions(words).value();
  SimWorld world = SimWorld::Build(options, size).value();
  SimWatch watch(world, options);
  RunToEnd(world, options, [] {});
  return watch.Row();
}

TEST(SimRunTest, ThePhasesFollowEachOther) {
  const SimRow row = Simulated({}, 64);
  EXPECT_EQ(row.standing, 64u);
  EXPECT_EQ(row.hosts, 8u);
  const SimPhases& phases = row.phases;
  EXPECT_GT(phases.checked_in, Instant(0));
  EXPECT_GT(phases.roster_first, phases.checked_in);
  EXPECT_GT(phases.roster_last, phases.roster_first);
  EXPECT_GT(phases.connected, phases.roster_last);
  EXPECT_GT(phases.standing, phases.connected);
  EXPECT_LT(phases.standing, milliseconds(100));
  EXPECT_GT(row.steps, 10u);
  EXPECT_LT(row.steps, StepsTarget(64));
}

// With one root and one rank, all values can be counted by hand.
TEST(SimRunTest, CountsTheTrafficOfASingleRank) {
  const SimRow row = Simulated({}, 1);
  EXPECT_EQ(row.standing, 1u);
  EXPECT_EQ(row.root.accepted, 1u);
  EXPECT_EQ(row.root.messages_sent, 4u) << "challenge, welcome, and the roster in two";
  EXPECT_EQ(row.root.messages_received, 3u) << "hello, proof, check-in";
  EXPECT_EQ(row.busiest_rank.bytes_received, row.root.bytes_sent);
  EXPECT_EQ(row.busiest_rank_index, 0u);
  EXPECT_EQ(row.bytes, row.root.bytes_sent + row.busiest_rank.bytes_sent);
  EXPECT_EQ(row.busiest_host.bytes_sent, 0u) << "all on one host";
  // SYN, SYN/ACK, hello, challenge, proof and welcome. The rank does not wait for more.
  EXPECT_EQ(row.steps, 6u);
}

TEST(SimRunTest, ABusyRootSlowsTheCheckIn) {
  SimWords busy;
  SimWords free;
  busy.each = free.each = true;
  busy.cpu = "100us";
  const SimRow row = Simulated(busy, 64), idle = Simulated(free, 64);
  EXPECT_EQ(row.standing, 64u);
  // Each rank causes at least three events: accepted, hello, and proof with check-in.
  EXPECT_GT(*row.phases.checked_in, 64 * 3 * std::chrono::microseconds(100));
  EXPECT_GT(*row.phases.checked_in, 10 * *idle.phases.checked_in);
}

TEST(SimRunTest, AllOtherRanksFailAndNameTheKilledRank) {
  SimWords words;
  words.each = true;
  words.faults = "kill:3@0.3ms";
  const SimRow row = Simulated(words, 64);
  EXPECT_EQ(row.killed, 1u);
  EXPECT_EQ(row.failed, 63u);
  EXPECT_EQ(row.waiting, 0u);
  ASSERT_THAT(row.failures, SizeIs(1));
  EXPECT_THAT(row.failures[0].text, HasSubstr("rank 3 (host node00000, pid 1003) was lost"));
  EXPECT_THAT(row.failures[0].ranks, SizeIs(63));
  EXPECT_GE(row.failures[0].first, std::chrono::microseconds(300));
  EXPECT_LE(row.failures[0].last, milliseconds(1));
}

TEST(SimRunTest, ARowHasTheFirstAndLastFailureAndTheTrace) {
  SimWords words;
  words.ranks = "64";
  words.timeout = "10s";
  words.faults = "kill:3@0.3ms";
  const SimOptions options = ParseSimOptions(words).value();
  SimWorld world = SimWorld::Build(options, 64).value();
  SimWatch watch(world, options);
  RunToEnd(world, options, [] {});
  const SimRow row = watch.Row();
  EXPECT_EQ(row.trace, world.network().trace());
  Instant first = Instant::max(), last{0}, told_first = Instant::max(), told_last{0};
  for (std::uint32_t rank = 0; rank < 64; ++rank) {
    const Instant failed = watch.seen(rank).failed;
    if (failed == Instant(0)) continue;
    first = std::min(first, failed);
    last = std::max(last, failed);
  }
  for (const SimFailure& failure : row.failures) {
    told_first = std::min(told_first, failure.first);
    told_last = std::max(told_last, failure.last);
  }
  EXPECT_LT(first, last) << "news take time";
  EXPECT_EQ(told_first, first);
  EXPECT_EQ(told_last, last);
}

TEST(SimRunTest, NamesTheFirstOfEquallyBusyRanks) {
  SimWords words;
  words.mode = "ring";
  words.each = true;
  EXPECT_EQ(Simulated(words, 4).busiest_rank_index, 0u);
}

TEST(SimRunTest, WaitsForAFaultAfterFormation) {
  SimWords words;
  words.faults = "kill:3@5s";
  const SimRow row = Simulated(words, 16);
  EXPECT_EQ(row.failed, 15u);
  EXPECT_TRUE(row.phases.standing);
  EXPECT_GE(row.failures.at(0).first, seconds(5));
}

TEST(SimRunTest, MergesEqualFailuresOfSeveralRanks) {
  SimWords words;
  words.faults = "refuse:1";
  const SimRow row = Simulated(words, 16);
  ASSERT_THAT(row.failures, SizeIs(1));
  EXPECT_THAT(row.failures[0].text, HasSubstr("(this rank) timed out connecting to the root"));
  EXPECT_THAT(row.failures[0].ranks, SizeIs(16));
}

TEST(SimRunTest, CountsWaitingAndAbsentRanks) {
  SimWords words;
  words.faults = "absent:2";
  words.until = "1s";
  const SimRow row = Simulated(words, 4);
  EXPECT_EQ(row.absent, 1u);
  EXPECT_EQ(row.waiting, 3u);
  EXPECT_FALSE(row.phases.checked_in);
}

TEST(SimRunTest, TheRingTakesOneStepPerRank) {
  SimWords words;
  words.mode = "ring";
  const SimRow row = Simulated(words, 64);
  EXPECT_EQ(row.standing, 64u);
  EXPECT_GT(row.steps, 63u);
}

TEST(SimRunTest, ObservesEveryPhaseOfEveryRank) {
  SimWords words;
  words.ranks = "16";
  const SimOptions options = ParseSimOptions(words).value();
  SimWorld world = SimWorld::Build(options, 16).value();
  SimWatch watch(world, options);
  std::uint64_t progress = 0;
  RunToEnd(world, options, [&] { ++progress; });
  EXPECT_EQ(watch.rosters(), 16u);
  EXPECT_EQ(watch.standing(), 16u);
  EXPECT_EQ(watch.failed(), 0u);
  Instant last{0};
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    EXPECT_GT(watch.seen(rank).standing, watch.seen(rank).roster);
    EXPECT_EQ(watch.seen(rank).failed, Instant(0));
    last = std::max(last, watch.seen(rank).standing);
  }
  EXPECT_EQ(watch.phases().standing, last);
  EXPECT_EQ(progress, 0u) << "it was over before there was anything to say";
}

}  // namespace
}  // namespace ringlet::cli
