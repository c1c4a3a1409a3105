#include "bootstrap/mailbox.hpp"

#include <gtest/gtest.h>

namespace ringlet::bootstrap {
namespace {

Bytes Of(int value) {
  return Bytes(1, static_cast<std::byte>(value));
}

TEST(Mailbox, KeepsTheOrderOfEachSenderAndTag) {
  Mailbox box({});
  ASSERT_TRUE(box.Put(Rank{1}, 7, Of(1)).ok());
  ASSERT_TRUE(box.Put(Rank{2}, 7, Of(2)).ok());
  ASSERT_TRUE(box.Put(Rank{1}, 7, Of(3)).ok());
  ASSERT_TRUE(box.Put(Rank{1}, 8, Of(4)).ok());
  EXPECT_EQ(box.Take(Rank{1}, 8), Of(4));
  EXPECT_EQ(box.Take(Rank{1}, 7), Of(1));
  EXPECT_EQ(box.Take(Rank{1}, 7), Of(3));
  EXPECT_EQ(box.Take(Rank{1}, 7), std::nullopt);
  EXPECT_EQ(box.Take(Rank{2}, 7), Of(2));
  EXPECT_EQ(box.messages(), 0u);
  EXPECT_EQ(box.bytes(), 0u);
}

TEST(Mailbox, PushedMessagesKeepTheOrderOfArrival) {
  Mailbox box({.messages_max = 3, .bytes_max = 100});
  ASSERT_TRUE(box.Put(Rank{1}, kPushedTag, Of(1)).ok());
  ASSERT_TRUE(box.Put(Rank{2}, kPushedTag + 5, Of(2)).ok());
  ASSERT_TRUE(box.Put(Rank{1}, 7, Of(3)).ok());
  EXPECT_FALSE(box.Put(Rank{1}, kPushedTag, Of(4)).ok()) << "they count as all others";
  EXPECT_EQ(box.Take(Rank{1}, kPushedTag), std::nullopt) << "nobody asks for it";
  const auto first = box.TakePushed(), second = box.TakePushed();
  EXPECT_EQ(first->message, Of(1));
  EXPECT_EQ(second->from, Rank{2});
  EXPECT_EQ(second->tag, kPushedTag + 5);
  EXPECT_FALSE(box.TakePushed().has_value());
  EXPECT_EQ(box.messages(), 1u);
  EXPECT_EQ(box.bytes(), 1u);
}

TEST(Mailbox, IsBoundedByCountAndByBytes) {
  Mailbox few({.messages_max = 2, .bytes_max = 100});
  ASSERT_TRUE(few.Put(Rank{3}, 1, Bytes(60)).ok());
  const Status big = few.Put(Rank{3}, 1, Bytes(41));
  ASSERT_FALSE(big.ok());
  EXPECT_NE(big.error().message.find("rank 3"), std::string::npos);
  ASSERT_TRUE(few.Put(Rank{3}, 1, Bytes(40)).ok());
  EXPECT_FALSE(few.Put(Rank{4}, 1, Bytes(0)).ok());
  EXPECT_TRUE(few.Take(Rank{3}, 1).has_value());
  EXPECT_TRUE(few.Put(Rank{4}, 1, Bytes(1)).ok());
}

}  // namespace
}  // namespace ringlet::bootstrap
