#include "plan/routes/transposition_table.hpp"

#include <gtest/gtest.h>

namespace ringlet::plan {
namespace {

TEST(TranspositionTableTest, ContainsAddedStatesUntilCleared) {
  TranspositionTable ends;
  EXPECT_EQ(ends.Find(7), nullptr);
  ends.Add(7, {3, 5});
  ASSERT_NE(ends.Find(7), nullptr);
  EXPECT_EQ(ends.Find(7)->steps, 3);
  EXPECT_EQ(ends.Find(7)->hops, 5);
  EXPECT_EQ(ends.Find(8), nullptr);
  ends.Clear();
  EXPECT_EQ(ends.Find(7), nullptr);
}

TEST(TranspositionTableTest, ALaterStateReplacesAnEarlierOneInTheSameSlot) {
  TranspositionTable ends;
  const std::uint64_t other = 7 + (std::uint64_t{1} << 32);
  ends.Add(7, {1, 1});
  ends.Add(other, {2, 2});
  EXPECT_EQ(ends.Find(7), nullptr);
  EXPECT_NE(ends.Find(other), nullptr);
}

TEST(TranspositionTableTest, KeepsRecentStatesWhenItGrows) {
  TranspositionTable ends;
  for (std::int64_t state = 1; state <= 1'000; ++state)
    ends.Add(static_cast<std::uint64_t>(state), {state, 0});
  for (std::int64_t state = 900; state <= 1'000; ++state) {
    ASSERT_NE(ends.Find(static_cast<std::uint64_t>(state)), nullptr) << state;
    EXPECT_EQ(ends.Find(static_cast<std::uint64_t>(state))->steps, state);
  }
}

TEST(TranspositionTableTest, DoesNotPayWithoutHits) {
  TranspositionTable ends;
  for (std::uint64_t state = 1; state <= 1'000; ++state) ends.Find(state);
  EXPECT_FALSE(ends.pays());
  ends.Clear();
  EXPECT_TRUE(ends.pays());
  ends.Add(7, {});
  for (int i = 0; i < 1'000; ++i) ends.Find(7);
  EXPECT_TRUE(ends.pays());
}

TEST(TranspositionTableTest, ScatteredSumsDiffer) {
  EXPECT_NE(Scatter(1) + Scatter(4), Scatter(2) + Scatter(3));
  EXPECT_NE(Scatter(0), 0u);
}

}  // namespace
}  // namespace ringlet::plan
