#include "collective/call/call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

constexpr CallPlace kPlace{.self = Rank{2}, .ranks = 4};

Call CallOf(CallKind kind) {
  return {.kind = kind, .count = 3, .root = Rank{1}};
}

TEST(Call, OnlyTheRootHasTheBuffersOfTheRoot) {
  const Call scatter = CallOf(CallKind::kScatter), gather = CallOf(CallKind::kGather);
  EXPECT_EQ(InputCount(scatter, kPlace), 0u);
  EXPECT_EQ(OutputCount(scatter, kPlace), 3u);
  EXPECT_EQ(OutputCount(gather, kPlace), 0u);
  EXPECT_EQ(InputCount(scatter, {Rank{1}, 4}), 12u);
  EXPECT_EQ(OutputCount(gather, {Rank{1}, 4}), 12u);
  EXPECT_EQ(InputCount(CallOf(CallKind::kBroadcast), kPlace), 0u);
  EXPECT_EQ(OutputCount(CallOf(CallKind::kReduce), kPlace), 0u);
}

TEST(Call, BufferSizesMatchNccl) {
  const auto sizes = [](CallKind kind, std::uint32_t self) {
    const Call call{.kind = kind, .count = 10, .type = DataType::kInt32, .root = Rank{1}};
    const CallPlace place{Rank{self}, 3};
    return std::pair(InputBytes(call, place), OutputBytes(call, place));
  };
  using P = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(sizes(CallKind::kAllReduce, 0), P(40, 40));
  EXPECT_EQ(sizes(CallKind::kAllGather, 0), P(40, 120));
  EXPECT_EQ(sizes(CallKind::kReduceScatter, 0), P(120, 40));
  EXPECT_EQ(sizes(CallKind::kBroadcast, 0), P(0, 40));
  EXPECT_EQ(sizes(CallKind::kBroadcast, 1), P(40, 40));
  EXPECT_EQ(sizes(CallKind::kReduce, 0), P(40, 0));
  EXPECT_EQ(sizes(CallKind::kReduce, 1), P(40, 40));
  EXPECT_EQ(sizes(CallKind::kAllToAll, 2), P(120, 120));
  EXPECT_EQ(sizes(CallKind::kGather, 0), P(40, 0));
  EXPECT_EQ(sizes(CallKind::kGather, 1), P(40, 120));
  EXPECT_EQ(sizes(CallKind::kScatter, 0), P(0, 40));
  EXPECT_EQ(sizes(CallKind::kScatter, 1), P(120, 40));
}

TEST(Call, OffsetsOfInPlaceCallsMatchNccl) {
  EXPECT_EQ(InPlaceOffset(CallOf(CallKind::kAllGather), Rank{2}), -6);
  EXPECT_EQ(InPlaceOffset(CallOf(CallKind::kGather), Rank{2}), -6);
  EXPECT_EQ(InPlaceOffset(CallOf(CallKind::kReduceScatter), Rank{2}), 6);
  EXPECT_EQ(InPlaceOffset(CallOf(CallKind::kScatter), Rank{2}), 6);
  for (const CallKind kind :
       {CallKind::kAllReduce, CallKind::kReduce, CallKind::kBroadcast, CallKind::kAllToAll})
    EXPECT_EQ(InPlaceOffset(CallOf(kind), Rank{2}), 0) << Name(kind);
}

TEST(Call, TextStatesTheCall) {
  Call call{.kind = CallKind::kAllReduce, .count = 8};
  EXPECT_EQ(ToText(call), "all_reduce of 8 float sum");
  call.kind = CallKind::kBroadcast;
  call.root = Rank{2};
  EXPECT_EQ(ToText(call), "broadcast of 8 float at root 2");
  EXPECT_EQ(ToText(Call{.kind = CallKind::kBarrier}), "barrier");
  EXPECT_EQ(ToText(Call{.kind = static_cast<CallKind>(200)}), "unknown operation 200");
}

TEST(Call, KindNamesRoundTrip) {
  for (std::size_t i = 0; i < kCallKinds; ++i)
    EXPECT_EQ(CallKindNamed(Name(static_cast<CallKind>(i))), static_cast<CallKind>(i));
  EXPECT_EQ(CallKindNamed("all_to_most"), std::nullopt);
}

TEST(OverlapOf, AcceptsOnlySeparateOrInPlaceBuffers) {
  const Bytes memory(64);
  const Call call = CallOf(CallKind::kAllGather);
  const View output = View(memory).first(48);
  EXPECT_EQ(OverlapOf(call, Rank{2}, View(memory).subspan(48, 12), output).value(), Overlap());
  EXPECT_EQ(OverlapOf(call, Rank{2}, View(memory).subspan(24, 12), output).value(), Overlap(-6));
  EXPECT_EQ(OverlapOf(call, Rank{2}, {}, output).value(), Overlap());
  const auto wrong = OverlapOf(call, Rank{2}, View(memory).subspan(12, 12), output);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("must begin -6 elements from the input"));
}

TEST(CheckCount, RefusesCountsLargerThanAnyMemory) {
  EXPECT_TRUE(CheckCount(kMemoryMax / 8, DataType::kFloat64, 1).ok());
  EXPECT_FALSE(CheckCount(kMemoryMax / 8, DataType::kFloat64, 2).ok());
  EXPECT_FALSE(CheckCount(SIZE_MAX, DataType::kFloat64, 4).ok());
  const Status refused = CheckCount(SIZE_MAX / 2, DataType::kInt32, 2);  // slightly more than 2^64
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("is larger than any memory"));
}

class ValidateTest : public testing::Test {
 protected:
  Bytes memory_ = Bytes(256);
  Call call_{.kind = CallKind::kAllReduce,
             .input = View(memory_).first(12),
             .output = std::span(memory_).subspan(64, 12),
             .count = 3};

  std::string Refusal() const {
    const Status status = Validate(call_, kPlace);
    return status.ok() ? "" : status.error().message;
  }
};

TEST_F(ValidateTest, AcceptsValidCalls) {
  EXPECT_EQ(Refusal(), "");
  call_.output = std::span(memory_).first(12);
  EXPECT_EQ(Refusal(), "") << "in place";
  call_ = {.kind = CallKind::kBarrier};
  EXPECT_EQ(Refusal(), "");
}

TEST_F(ValidateTest, RefusesImpossibleCallsWithAReason) {
  call_.input = View(memory_).first(11);
  EXPECT_THAT(Refusal(), HasSubstr("are not 11 bytes of input"));
  call_.input = View(memory_).first(12);
  call_.output = std::span(memory_).subspan(4, 12);
  EXPECT_THAT(Refusal(), HasSubstr("overlap"));
  call_.op = ReduceOp::kPreMulSum;
  EXPECT_THAT(Refusal(), HasSubstr("needs a scalar of 4 bytes, not 0"));
  call_.kind = CallKind::kBroadcast;
  call_.root = Rank{4};
  EXPECT_THAT(Refusal(), HasSubstr("root 4 of broadcast is not below the number of ranks, 4"));
}

TEST_F(ValidateTest, IgnoresArgumentsOfTheRootOnOtherRanks) {
  call_.kind = CallKind::kReduce;
  call_.output = std::span(memory_).subspan(1, 5);
  call_.root = Rank{0};
  EXPECT_EQ(Refusal(), "");
  call_.root = kPlace.self;
  EXPECT_NE(Refusal(), "");
}

TEST(ScalarTest, KeepsAnElementAndItsSize) {
  const std::array<std::byte, 12> bytes = {std::byte{1}, std::byte{2}};
  const Scalar two{View(bytes).first(2)};
  EXPECT_EQ(two.given_bytes(), 2u);
  ASSERT_EQ(two.view().size(), 2u);
  EXPECT_EQ(two.view()[1], std::byte{2});
  EXPECT_EQ(Scalar{View(bytes)}.given_bytes(), 12u) << "and so is refused";
  EXPECT_EQ(Scalar{View(bytes)}.view().size(), 8u);
}

}  // namespace
}  // namespace ringlet::collective
