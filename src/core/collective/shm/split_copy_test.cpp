#include "collective/shm/split_copy.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/value/prng.hpp"

namespace ringlet::collective {
namespace {

constexpr std::size_t kSizes[] = {1,         4096,     65'535,        65'536,
                                  65'537,    500'000,  1 << 20,       (1 << 20) + 1,
                                  7'777'777, 64 << 20, (64 << 20) - 3};

TEST(SplitCopy, BothEndsTakeEachByteOnce) {
  Prng prng(20);
  for (const std::size_t bytes : kSizes) {
    for (int order = 0; order < 20; ++order) {
      transport::ArenaRank rank;
      SplitCopy receiver(rank, 5, bytes), sender(rank, 5, bytes);
      receiver.Open();
      std::size_t front = 0, back = bytes;
      while (front < back) {
        const bool from_front = prng.Next() % 3 != 0;
        const auto piece = from_front ? receiver.TakeFront() : sender.TakeBack();
        ASSERT_TRUE(piece);
        ASSERT_GT(piece->bytes, 0u);
        if (from_front) {
          ASSERT_EQ(piece->begin, front);
          front += piece->bytes;
        } else {
          back -= piece->bytes;
          ASSERT_EQ(piece->begin, back);
          EXPECT_FALSE(receiver.delivered());
          sender.Deliver();
        }
        EXPECT_TRUE(receiver.delivered());
      }
      EXPECT_EQ(front, back) << bytes;
      EXPECT_FALSE(receiver.TakeFront());
      EXPECT_FALSE(sender.TakeBack());
    }
  }
}

TEST(SplitCopy, ASenderTakesNothingBeforeTheReceiverOpensItsOperation) {
  transport::ArenaRank rank;
  SplitCopy sender(rank, 8, 1 << 20);
  EXPECT_FALSE(sender.TakeBack());
  SplitCopy(rank, 7, 1 << 20).Open();
  EXPECT_FALSE(sender.TakeBack());
  SplitCopy(rank, 8, 1 << 20).Open();
  EXPECT_TRUE(sender.TakeBack());
}

TEST(SplitCopy, DeliveriesOfAnEarlierOperationDoNotCount) {
  transport::ArenaRank rank;
  for (std::uint64_t operation = 1; operation < 4; ++operation) {
    SplitCopy copy(rank, operation, 1 << 20);
    copy.Open();
    EXPECT_TRUE(copy.delivered());
    ASSERT_TRUE(copy.TakeBack());
    EXPECT_FALSE(copy.delivered()) << operation;
    copy.Deliver();
    ASSERT_TRUE(copy.TakeBack());
    EXPECT_FALSE(copy.delivered()) << operation;
    copy.Deliver();
    EXPECT_TRUE(copy.delivered()) << operation;
  }
}

// Large numbers wrap around in half a word.
TEST(SplitCopy, WorksAfterFourBillionOperations) {
  transport::ArenaRank rank;
  SplitCopy copy(rank, (std::uint64_t{1} << 32) + 3, 1 << 20);
  copy.Open();
  ASSERT_TRUE(copy.TakeBack());
  copy.Deliver();
  EXPECT_TRUE(copy.delivered());
}

}  // namespace
}  // namespace ringlet::collective
