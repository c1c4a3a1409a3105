#include "plan/tuning/tuning_cell.hpp"

#include <gmock/gmock.h>

namespace ringlet::plan {
namespace {

TEST(TuningCellTest, AlgorithmsUseTheirGraphs) {
  TuningInput input;
  for (std::size_t i = 0; i < kGraphIds; ++i)
    input.graphs[i].channels = static_cast<std::uint32_t>(i);
  EXPECT_EQ(GraphOf(input, NcclAlgorithm::kRing).channels, 0u);
  EXPECT_EQ(GraphOf(input, NcclAlgorithm::kPat).channels, 1u);
  EXPECT_EQ(GraphOf(input, NcclAlgorithm::kCollnetChain).channels, 2u);
  EXPECT_EQ(GraphOf(input, NcclAlgorithm::kNvlsTree).channels, 3u);
  EXPECT_EQ(GraphOf(input, NcclAlgorithm::kCollnetDirect).channels, 4u);
}

TEST(TuningCellTest, ATreeIsSlowerForMediumSizes) {
  EXPECT_EQ(TreeTenths(Protocol::kSimple, 10), 10u);
  EXPECT_EQ(TreeTenths(Protocol::kSimple, 64), 9u);
  EXPECT_EQ(TreeTenths(Protocol::kLl, 64ull << 12), 4u);
  EXPECT_EQ(TreeTenths(Protocol::kLl, 64ull << 40), 10u);
}

TEST(TuningCellTest, PatternsWithoutChannelsAreNotUsed) {
  TuningInput input;
  input.ranks = 8;
  EXPECT_EQ(CellOf(input, Function::kAllReduce, NcclAlgorithm::kRing, Protocol::kSimple),
            TuningCell());
}

}  // namespace
}  // namespace ringlet::plan
