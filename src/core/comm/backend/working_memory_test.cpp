#include "comm/backend/working_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ringlet::comm {
namespace {

using collective::Call;
using collective::CallKind;

constexpr collective::CallPlace kPlace{Rank{0}, 2};

TEST(WorkingMemory, UsesTheCallersInputIfItNeedsNoCopy) {
  std::vector<float> data(2);
  WorkingMemory memory;
  const Call call{.input = std::as_bytes(std::span(data)), .count = 2};
  EXPECT_EQ(memory.Staged(call, kPlace).data(), call.input.data());
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(WorkingMemory, AnInputIsMultipliedInACopy) {
  std::vector<float> data = {1, 2};
  const float scalar = 3;
  WorkingMemory memory;
  const Call call{.input = std::as_bytes(std::span(data)),
                  .count = 2,
                  .op = ReduceOp::kPreMulSum,
                  .scalar_at = reinterpret_cast<const std::byte*>(&scalar)};
  const View staged = memory.Staged(call, kPlace);
  EXPECT_THAT(std::vector<float>(reinterpret_cast<const float*>(staged.data()),
                                 reinterpret_cast<const float*>(staged.data()) + 2),
              testing::ElementsAre(3, 6));
  EXPECT_THAT(data, testing::ElementsAre(1, 2));
  EXPECT_GE(memory.bytes(), sizeof(float) * 2);
  memory.Free();
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(WorkingMemory, AnAllToAllInPlaceReadsACopy) {
  std::vector<float> data = {1, 2};
  WorkingMemory memory;
  const auto bytes = std::as_writable_bytes(std::span(data));
  const Call call{.kind = CallKind::kAllToAll, .input = bytes, .output = bytes, .count = 1};
  EXPECT_NE(memory.Staged(call, kPlace).data(), call.input.data());
}

TEST(WorkingMemory, ABarrierCarriesASingleByte) {
  WorkingMemory memory;
  const Call barrier = memory.WithData({.kind = CallKind::kBarrier});
  EXPECT_EQ(barrier.count, 1u);
  EXPECT_EQ(barrier.type, DataType::kUint8);
  const auto made =
      memory.TaskOf(barrier, collective::FingerprintOf({.kind = CallKind::kBarrier}, 5), kPlace);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->task.fingerprint.count, 1u) << "as it always was on the wire";
  EXPECT_EQ(made->task.fingerprint.sequence, 5u);
  EXPECT_EQ(made->task.output.size(), 1u);
}

TEST(WorkingMemory, RefusesPartlyOverlappingBuffers) {
  std::vector<std::byte> data(64);
  WorkingMemory memory;
  const Call call{
      .input = View(data).first(32), .output = std::span(data).subspan(16, 32), .count = 8};
  EXPECT_EQ(memory.TaskOf(call, collective::FingerprintOf(call, 0), kPlace).error().code,
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace ringlet::comm
