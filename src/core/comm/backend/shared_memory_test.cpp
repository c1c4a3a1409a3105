#include "comm/backend/shared_memory.hpp"

#include <gmock/gmock.h>

#include "comm/backend/backends_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(SharedMemoryBackend, OnlySmallCallsAreOneShot) {
  RunFormed(2, {}, [](std::uint32_t, Communicator& mine) {
    EXPECT_STREQ(mine.backend().AlgorithmNamesOf({.count = 2}).algorithm, "one_shot");
    EXPECT_STRNE(mine.backend().AlgorithmNamesOf({.count = 1 << 20}).algorithm, "one_shot");
    EXPECT_FALSE(mine.backend().HasChannels());
  });
}

// Otherwise the rank would wait for messages that the other does not send.
TEST(SharedMemoryBackend, ADifferentCallIsDetectedBeforeAllToAllMessages) {
  RunFormed(2, {}, [](std::uint32_t rank, Communicator& mine) {
    const AllToAllVCall none{.sent = {{0, 0}, {0, 0}}, .received = {{0, 0}, {0, 0}}};
    const Status status = rank == 0 ? AllToAllV(mine, none) : Barrier(mine);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message,
                testing::AllOf(testing::HasSubstr("all_to_all_v"), testing::HasSubstr("barrier")));
  });
}

TEST(SharedMemoryBackend, ABarrierIgnoresItsCount) {
  RunFormed(2, {}, [](std::uint32_t rank, Communicator& mine) {
    const Call barrier{.kind = CallKind::kBarrier, .count = 3000 + rank};
    EXPECT_TRUE(mine.Run(barrier).ok());
    EXPECT_TRUE(SumOfRanks(mine, 8).ok());
  });
}

TEST(SharedMemoryBackend, AMultipliedInputIsStagedInFreeableMemory) {
  RunFormed(2, {}, [](std::uint32_t, Communicator& mine) {
    float in = 2, out = 0, scalar = 3;
    Call call{.input = std::as_bytes(std::span(&in, 1)),
              .output = std::as_writable_bytes(std::span(&out, 1)),
              .count = 1,
              .op = ReduceOp::kPreMulSum};
    call.scalar = collective::Scalar(std::as_bytes(std::span(&scalar, 1)));
    ASSERT_TRUE(AllReduce(mine, call).ok());
    EXPECT_EQ(out, 12);
    EXPECT_GT(mine.memory_use().working, 0u);
    ASSERT_TRUE(mine.FreeWorkingMemory().ok());
    EXPECT_EQ(mine.memory_use().working, 0u);
    EXPECT_TRUE(SumOfRanks(mine, 8).ok());
  });
}

}  // namespace
}  // namespace ringlet::comm
