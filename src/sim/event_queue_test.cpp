#include "sim/event_queue.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/value/prng.hpp"

namespace ringlet::sim {
namespace {

constexpr Instant kEver = Instant::max();

TEST(EventQueue, ServesEqualTimesInOrderOfArrival) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 100; ++i) queue.Push({.when = Instant(1000), .target = i});
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(queue.Ready(kEver));
    EXPECT_EQ(queue.Pop().target, i);
  }
  EXPECT_FALSE(queue.Ready(kEver));
}

TEST(EventQueue, ServesNothingBeyondTheLimitAndAcceptsEarlierEvents) {
  EventQueue queue;
  queue.Push({.when = Instant(1'000'000), .target = 1});
  EXPECT_FALSE(queue.Ready(Instant(999'999)));
  queue.Push({.when = Instant(5), .target = 2});
  ASSERT_TRUE(queue.Ready(Instant(5)));
  EXPECT_EQ(queue.Pop().target, 2u);
  ASSERT_TRUE(queue.Ready(Instant(1'000'000)));
  EXPECT_EQ(queue.Pop().target, 1u);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(EventQueue, ServesAllEventsDueAtTheLimit) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 3; ++i) queue.Push({.when = Instant(1000), .target = i});
  queue.Push({.when = Instant(1001), .target = 3});
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(queue.Ready(Instant(1000)));
    EXPECT_EQ(queue.Pop().target, i);
  }
  EXPECT_FALSE(queue.Ready(Instant(1000)));
}

// Compares with a sorted map, with interleaved pushes as in a simulation.
TEST(EventQueue, OrdersByTimeThenByArrival) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng prng(seed);
    EventQueue queue;
    std::multimap<Instant, std::uint32_t> expected;  // equal keys keep their order
    Instant now{0};
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      if (prng.Chance(0.52)) {
        const Instant when =
            now + Instant(static_cast<std::int64_t>(prng.Next() >> (24 + prng.Below(40))));
        queue.Push({.when = when, .target = i});
        expected.emplace(when, i);
        continue;
      }
      ASSERT_EQ(queue.Ready(kEver), !expected.empty()) << "seed " << seed;
      if (expected.empty()) continue;
      const ScheduledEvent due = queue.Pop();
      ASSERT_EQ(due.when, expected.begin()->first) << "seed " << seed;
      ASSERT_EQ(due.target, expected.begin()->second) << "seed " << seed;
      now = due.when;
      expected.erase(expected.begin());
    }
    EXPECT_EQ(queue.size(), expected.size());
  }
}

}  // namespace
}  // namespace ringlet::sim
