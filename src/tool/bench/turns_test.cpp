#include "tool/bench/turns.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

Row RowOf(std::size_t count, double time_us) {
  return {.bytes = 4 * count,
          .count = count,
          .out_of_place = Measurement{.time_us = time_us, .p99_us = 2 * time_us, .wrong = 1}};
}

TEST(TurnsTest, TakesMediansAndAddsWrongElements) {
  Turns turns;
  turns.Add({RowOf(2, 10), RowOf(8, 100)});
  turns.Add({RowOf(2, 1000), RowOf(8, 300)});
  turns.Add({RowOf(2, 20), RowOf(8, 200)});
  const auto rows = turns.Rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].out_of_place, (Measurement{.time_us = 20, .p99_us = 40, .wrong = 3}));
  EXPECT_EQ(rows[1].out_of_place->time_us, 200);
  EXPECT_FALSE(rows[0].in_place.has_value());
}

TEST(TurnsTest, PlacesPeersInTheRowsOfTheirCounts) {
  Turns turns;
  turns.Add({RowOf(2, 10), RowOf(8, 100)});
  turns.Add("gloo", {{8, {.time_us = 500}}});
  turns.Add("gloo", {{8, {.time_us = 700}}, {3, {.time_us = 1}}});
  const auto rows = turns.Rows();
  EXPECT_TRUE(rows.at(0).peers.empty());
  EXPECT_EQ(rows.at(1).peers.at("gloo").time_us, 600);
}

TEST(TurnsTest, WithoutMeasurementsTheTableIsEmpty) {
  EXPECT_TRUE(Turns().Rows().empty());
}

}  // namespace
}  // namespace ringlet::cli
