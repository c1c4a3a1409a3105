#include "pytorch/store/message_ranks.hpp"

#include <gtest/gtest.h>

namespace ringlet::torch_api {
namespace {

TEST(MessageRanks, TranslateRanksInAMessageToRanksOfTheGroup) {
  const MessageRanks message_ranks{.sender = 1, .receiver = 12};
  EXPECT_EQ(InRanksOfGroup("rank 0 (host a, pid 10) was lost; rank 1 noticed it", message_ranks),
            "rank 1 (host a, pid 10) was lost; rank 12 noticed it");
  EXPECT_EQ(InRanksOfGroup("from rank 1", message_ranks), "from rank 12");
}

TEST(MessageRanks, KeepOtherNumbersOfAMessage) {
  const MessageRanks message_ranks{.sender = 7, .receiver = 8};
  for (const char* const text :
       {"", "rank ", "rank 10 of 11", "frank 0", "2 ranks, root 1", "rank x"})
    EXPECT_EQ(InRanksOfGroup(text, message_ranks), text);
}

TEST(MessageRanks, KeepAMessageThatHasRanksOfTheGroup) {
  EXPECT_EQ(InRanksOfGroup("rank 1 aborted the communicator: rank 0 was late", {4, 5}),
            "rank 5 aborted the communicator: rank 0 was late");
}

}  // namespace
}  // namespace ringlet::torch_api
