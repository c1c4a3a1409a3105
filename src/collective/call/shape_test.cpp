#include "collective/call/shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

CallShape ShapeOf(CallKind kind) {
  return {.kind = kind, .count = 3, .root = Rank{1}, .self = Rank{2}, .ranks = 4};
}

TEST(CallShape, OnlyTheRootHasWhatOnlyTheRootNeeds) {
  CallShape scatter = ShapeOf(CallKind::kScatter), gather = ShapeOf(CallKind::kGather);
  EXPECT_EQ(InputCount(scatter), 0u);
  EXPECT_EQ(OutputCount(scatter), 3u);
  EXPECT_EQ(OutputCount(gather), 0u);
  scatter.self = gather.self = Rank{1};
  EXPECT_EQ(InputCount(scatter), 12u);
  EXPECT_EQ(OutputCount(gather), 12u);
  EXPECT_EQ(InputCount(ShapeOf(CallKind::kBroadcast)), 0u);
  EXPECT_EQ(OutputCount(ShapeOf(CallKind::kReduce)), 0u);
}

TEST(CallShape, BlocksOfAllRanksLieWhereNcclHasThem) {
  EXPECT_EQ(OutputCount(ShapeOf(CallKind::kAllGather)), 12u);
  EXPECT_EQ(InputCount(ShapeOf(CallKind::kReduceScatter)), 12u);
  EXPECT_EQ(InputCount(ShapeOf(CallKind::kAllToAll)), 12u);
  EXPECT_EQ(InPlaceOffset(ShapeOf(CallKind::kAllGather)), -6);
  EXPECT_EQ(InPlaceOffset(ShapeOf(CallKind::kReduceScatter)), 6);
  EXPECT_EQ(InPlaceOffset(ShapeOf(CallKind::kAllReduce)), 0);
}

TEST(OverlapOf, TakesWhatIsApartOrInPlaceAndNothingElse) {
  const Bytes memory(64);
  const CallShape shape = ShapeOf(CallKind::kAllGather);
  const View output = View(memory).first(48);
  EXPECT_EQ(OverlapOf(shape, 4, View(memory).subspan(48, 12), output).value(), Overlap());
  EXPECT_EQ(OverlapOf(shape, 4, View(memory).subspan(24, 12), output).value(), Overlap(-6));
  EXPECT_EQ(OverlapOf(shape, 4, {}, output).value(), Overlap());
  const auto wrong = OverlapOf(shape, 4, View(memory).subspan(12, 12), output);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("does not begin -6 elements from the input"));
}

}  // namespace
}  // namespace ringlet::collective
