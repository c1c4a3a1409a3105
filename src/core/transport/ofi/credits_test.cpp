#include "transport/ofi/credits.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "base/value/prng.hpp"

namespace ringlet::transport::ofi {
namespace {

TEST(SendCredits, EqualTheFreeBuffersOfThePeer) {
  SendCredits credits(2);
  EXPECT_TRUE(credits.MaySend());
  credits.Sent();
  credits.Sent();
  EXPECT_FALSE(credits.MaySend());
  ASSERT_TRUE(credits.RecordReport(1).ok());
  EXPECT_TRUE(credits.MaySend());
  ASSERT_TRUE(credits.RecordReport(1).ok());  // sent twice, counted once
  credits.Sent();
  EXPECT_FALSE(credits.MaySend());
}

TEST(SendCredits, ImpossibleCreditsAreRefused) {
  SendCredits credits(4);
  for (int i = 0; i < 3; ++i) credits.Sent();
  ASSERT_TRUE(credits.RecordReport(2).ok());
  EXPECT_EQ(credits.RecordReport(1).error().code, Code::kProtocol);
  EXPECT_EQ(credits.RecordReport(4).error().code, Code::kProtocol);
  EXPECT_TRUE(credits.RecordReport(3).ok());
}

TEST(ReceiveCredits, AreDueWhenHalfOfTheBuffersAreFree) {
  ReceiveCredits credits(4);
  credits.Freed();
  EXPECT_FALSE(credits.IsDue());
  credits.Freed();
  EXPECT_TRUE(credits.IsDue());
  credits.Freed();
  EXPECT_EQ(credits.freed(), 3u);
  credits.RecordReport();
  EXPECT_FALSE(credits.IsDue());
}

// Tries random moves of both sides. Messages and credits must not exceed their buffers, and one
// side must always be able to move.
TEST(Credits, NeverOverflowOrDeadlock) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Prng prng(seed);
    const auto buffers = static_cast<std::uint32_t>(1 + prng.Below(9));
    SendCredits sender(buffers);
    ReceiveCredits receiver(buffers);
    std::size_t arrived = 0;
    std::deque<std::uint64_t> told = {0};  // the greeting
    for (int i = 0; i < 1000; ++i) {
      const bool may_send = sender.MaySend(), may_read = arrived > 0, may_take = !told.empty();
      ASSERT_TRUE(may_send || may_read || may_take);
      switch (prng.Below(3)) {
        case 0:
          if (!may_send) break;
          sender.Sent();
          ++arrived;
          break;
        case 1:
          if (!may_read) break;
          --arrived;
          receiver.Freed();
          if (receiver.IsDue()) {
            told.push_back(receiver.freed());
            receiver.RecordReport();
          }
          break;
        default:
          if (!may_take) break;
          ASSERT_TRUE(sender.RecordReport(told.front()).ok());
          told.pop_front();
      }
      ASSERT_LE(arrived, buffers);
      ASSERT_LE(told.size(), kCreditBuffers);
    }
  }
}

}  // namespace
}  // namespace ringlet::transport::ofi
