#include "pytorch/store/seats.hpp"

#include <gtest/gtest.h>

namespace ringlet::torch_api {
namespace {

TEST(Seats, TranslateRanksInAMessageToRanksOfTheGroup) {
  const Seats seats{.sender = 1, .receiver = 12};
  EXPECT_EQ(InRanksOfGroup("rank 0 (host a, pid 10) was lost; rank 1 noticed it", seats),
            "rank 1 (host a, pid 10) was lost; rank 12 noticed it");
  EXPECT_EQ(InRanksOfGroup("from rank 1", seats), "from rank 12");
}

TEST(Seats, KeepOtherNumbersOfAMessage) {
  const Seats seats{.sender = 7, .receiver = 8};
  for (const char* const text :
       {"", "rank ", "rank 10 of 11", "frank 0", "2 ranks, root 1", "rank x"})
    EXPECT_EQ(InRanksOfGroup(text, seats), text);
}

TEST(Seats, KeepAMessageThatHasRanksOfTheGroup) {
  EXPECT_EQ(InRanksOfGroup("rank 1 aborted the communicator: rank 0 was late", {4, 5}),
            "rank 5 aborted the communicator: rank 0 was late");
}

}  // namespace
}  // namespace ringlet::torch_api
