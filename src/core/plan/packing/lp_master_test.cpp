#include "plan/packing/lp_master.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace ringlet::plan {
namespace {

using Needs = std::vector<LpMaster::Need>;

double Sum(const LpMaster& fluid) {
  double sum = 0;
  for (const auto& [column, amount] : fluid.Amounts()) sum += static_cast<double>(amount);
  return sum / static_cast<double>(kFluidOne);
}

double Worth(const LpMaster& fluid) {
  return static_cast<double>(
             std::accumulate(fluid.prices().begin(), fluid.prices().end(), std::int64_t{0})) /
         static_cast<double>(kFluidOne);
}

/// Three columns use two of three rows each. The optimum takes half of each column.
TEST(LpMasterTest, FractionsBeatIntegers) {
  LpMaster fluid;
  for (int i = 0; i < 3; ++i) fluid.AddRow();
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_TRUE(fluid.Enter(i, Needs{{i, kFluidOne}, {(i + 1) % 3, kFluidOne}}, kFluidOne));
  EXPECT_NEAR(Sum(fluid), 1.5, 1e-3);
  EXPECT_NEAR(Worth(fluid), 1.5, 1e-3);
  EXPECT_EQ(fluid.Amounts().size(), 3u);
}

TEST(LpMasterTest, UnprofitableColumnsStayOut) {
  LpMaster fluid;
  fluid.AddRow();
  EXPECT_TRUE(fluid.Enter(0, Needs{{0, kFluidOne}}, kFluidOne));
  EXPECT_FALSE(fluid.Enter(1, Needs{{0, 2 * kFluidOne}}, kFluidOne));
  EXPECT_TRUE(fluid.Enter(2, Needs{{0, kFluidOne / 4}}, kFluidOne));
  EXPECT_NEAR(Sum(fluid), 4, 1e-3);
}

TEST(LpMasterTest, RowsMayBeAddedLater) {
  LpMaster fluid;
  fluid.AddRow();
  EXPECT_TRUE(fluid.Enter(0, Needs{{0, kFluidOne}}, kFluidOne));
  const std::uint32_t row = fluid.AddRow();
  EXPECT_TRUE(fluid.Enter(1, Needs{{row, kFluidOne / 2}}, kFluidOne));
  EXPECT_NEAR(Sum(fluid), 3, 1e-3);
}

}  // namespace
}  // namespace ringlet::plan
