#include "plan/packing/integer_rounding.hpp"

#include <gtest/gtest.h>

namespace ringlet::plan {
namespace {

const IntegerRounding::More kNoMore = {[] { return false; },
                                       [](const IntegerRounding::Rows&) { return nullptr; }};

Columns LaneMask(std::vector<Columns::Needs> list) {
  Columns columns;
  for (Columns::Needs& needs : list) columns.Add(std::move(needs));
  return columns;
}

TEST(IntegerRoundingTest, ExchangesColumnsUntilNoRowOverflows) {
  const Columns columns = LaneMask({{{0, 40}}, {{1, 40}}, {{0, 20}, {1, 20}}});
  IntegerRounding whole(columns);
  whole.Put(0, 4);
  std::int64_t work = 0;
  EXPECT_TRUE(whole.Fit({80, 80}, 10'000, kNoMore, work));
  EXPECT_LE(whole.loads()[0], 80);
  EXPECT_LE(whole.loads()[1], 80);
  EXPECT_EQ(whole.counts()[0] + whole.counts()[1] + whole.counts()[2], 4u);
  EXPECT_GT(work, 0);
}

TEST(IntegerRoundingTest, StopsAtItsWorkLimit) {
  const Columns columns = LaneMask({{{0, 40}}, {{1, 40}}});
  IntegerRounding whole(columns);
  whole.Put(0, 5);
  std::int64_t work = 0;
  EXPECT_FALSE(whole.Fit({80, 80}, 100, kNoMore, work));
  EXPECT_GE(work, 100);
  EXPECT_LT(work, 200);
}

/// No single exchange helps before overflowing rows gain weight.
TEST(IntegerRoundingTest, OverflowingRowsGainWeight) {
  const Columns columns = LaneMask({{{0, 40}, {1, 20}, {2, 40}}, {{2, 40}}, {{0, 40}}, {{2, 20}}});
  IntegerRounding whole(columns);
  whole.Put(0, 3);
  whole.Put(1, 1);
  std::int64_t work = 0;
  EXPECT_TRUE(whole.Fit({60, 20, 60}, 10'000, kNoMore, work));
}

TEST(IntegerRoundingTest, RequestsColumnsIfNoExchangeHelps) {
  Columns columns = LaneMask({{{0, 40}}});
  IntegerRounding whole(columns);
  whole.Put(0, 2);
  const std::vector<std::int64_t> room = {40, 40};
  std::int64_t work = 0;
  const auto find = [&](const IntegerRounding::Rows& rows) {
    EXPECT_EQ(rows.loads[0], 40) << "one is taken away while another is looked for";
    columns.Add({{1, 40}});
    return &room;
  };
  const IntegerRounding::More more = {[] { return true; }, find};
  EXPECT_TRUE(whole.Fit({40}, 10'000, more, work));
  EXPECT_EQ(whole.counts(), (std::vector<std::uint32_t>{1, 1}));
}

TEST(IntegerRoundingTest, PrefersTheColumnThatLeavesMost) {
  const Columns columns = LaneMask({{{0, 40}}, {{1, 40}}});
  IntegerRounding whole(columns);
  whole.Put(0, 1);
  whole.AddBest(1, {80, 80});
  EXPECT_EQ(whole.counts(), (std::vector<std::uint32_t>{1, 1}));
  whole.AddBest(2, {80, 80});
  EXPECT_EQ(whole.counts(), (std::vector<std::uint32_t>{2, 2}));
}

/// Only the last of many columns helps. Needs above kLaneMax are clamped and still overflow.
TEST(IntegerRoundingTest, ConsidersAllColumns) {
  for (std::uint32_t count = 1; count < 150; ++count) {
    Columns columns;
    columns.Add({{0, 40}});
    for (std::uint32_t i = 0; i < count; ++i) columns.Add({{0, 40}, {1, 100'000}});
    columns.Add({{2, 40}});
    IntegerRounding whole(columns);
    whole.Put(0, 2);
    std::int64_t work = 0;
    ASSERT_TRUE(whole.Fit({40, 80, 40}, 10'000, kNoMore, work)) << count;
    EXPECT_EQ(whole.counts()[0], 1u);
    EXPECT_EQ(whole.counts().back(), 1u);
  }
}

}  // namespace
}  // namespace ringlet::plan
