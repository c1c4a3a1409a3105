#include "base/value/race.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/value/prng.hpp"

namespace ringlet {
namespace {

/// Runs operations whose ways take `times`, disturbed by noise. Returns how often each way ran.
std::vector<int> RunWith(Race& race, const std::vector<std::uint64_t>& times, int operations,
                         Prng* noise = nullptr) {
  std::vector<int> ran(times.size(), 0);
  for (int i = 0; i < operations; ++i) {
    const std::uint32_t way = race.way();
    ++ran[way];
    const std::uint64_t time = times[way];
    // One operation in four takes up to ten times as long.
    race.Record(noise && noise->Below(4) == 0 ? time * (1 + noise->Below(10)) : time);
  }
  return ran;
}

TEST(Race, TriesEachWayThenTakesTheFastest) {
  for (std::uint32_t fastest = 0; fastest < 3; ++fastest) {
    Race race(3);
    std::vector<std::uint64_t> times = {300, 300, 300};
    times[fastest] = 100;
    RunWith(race, times, 3 * Race::kProbe);
    EXPECT_EQ(race.way(), fastest);
  }
}

TEST(Race, ProbesOfMuchSlowerWaysEndEarly) {
  Race race(3);
  // Both other ways are probed at first and once again.
  const auto ran = RunWith(race, {100, 1700, 600}, 60);
  EXPECT_EQ(ran[1], 2 * 1) << "its first operation is slow enough";
  EXPECT_EQ(ran[2], 2 * 2);
  EXPECT_EQ(race.way(), 0u);
}

TEST(Race, ALateOperationDoesNotReplaceTheTimeOfAProbe) {
  Race race(2);
  for (int i = 0; i < 3; ++i) race.Record(100);
  for (const std::uint64_t time : {60u, 50u, 450u}) race.Record(time);
  EXPECT_EQ(race.way(), 1u);
}

TEST(Race, SpendsLittleTimeOnSlowerWays) {
  Race race(3);
  const auto ran = RunWith(race, {1000, 5000, 4000}, 20'000);
  EXPECT_LT(ran[1] + ran[2], 100);
  EXPECT_GT(ran[1], static_cast<int>(Race::kProbe)) << "it is tried again";
}

TEST(Race, IgnoresDisturbedOperations) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng noise(seed);
    Race race(2);
    const auto ran = RunWith(race, {1500, 1000}, 10'000, &noise);
    EXPECT_GT(ran[1], 9'000) << "seed " << seed;
  }
}

TEST(Race, FollowsAChangeOfTheMachine) {
  Race race(3);
  RunWith(race, {4000, 1700, 3000}, 10'000);
  EXPECT_EQ(race.way(), 1u);
  // The ranks now run on cores that share no cache.
  RunWith(race, {4000, 17'000, 4500}, 100);
  const auto ran = RunWith(race, {4000, 17'000, 4500}, 1000);
  EXPECT_GT(ran[0], 900);
  // And back. The present way is not slower than before, so only a probe finds the change.
  RunWith(race, {4000, 1700, 3000}, 2 * static_cast<int>(Race::kLastInterval) * 2);
  EXPECT_EQ(race.way(), 1u);
}

TEST(Race, TheFirstTimeAfterAChangeDoesNotCount) {
  Race race(2);
  std::uint32_t last = 0;
  int slow = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t way = race.way();
    race.Record(way != last ? 1 : way == 0 ? 100 : 1000);
    last = way;
    slow += way == 1;
  }
  EXPECT_LT(slow, 50);
}

TEST(Race, OneWayNeedsNoProbe) {
  Race race(1);
  const auto ran = RunWith(race, {0}, 100);
  EXPECT_EQ(ran[0], 100);
  EXPECT_EQ(Race().way(), 0u);
}

}  // namespace
}  // namespace ringlet
