#include "watch/operation.hpp"

#include <gtest/gtest.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

TEST(RecordedOperationText, NamesCallAndPlace) {
  RecordedOperation operation = SumForTest(17);
  EXPECT_EQ(ToText(operation), "all_reduce of 2 float sum as operation 17");
  operation.reduction.clear();
  operation.call = "broadcast";
  operation.root = 3;
  EXPECT_EQ(ToText(operation), "broadcast of 2 float at root 3 as operation 17");
  operation = {.sequence = 5, .call = "barrier"};
  EXPECT_EQ(ToText(operation), "barrier as operation 5");
}

TEST(RecordedOperationText, CountsMessages) {
  RecordedOperation message{.sequence = 17,
                            .call = "send_receive",
                            .count = 2,
                            .type = "float",
                            .root = 1,
                            .messages = 1};
  EXPECT_EQ(ToText(message), "a message of 2 float to rank 1 after 17 collectives");
  message.messages = 3;
  EXPECT_EQ(ToText(message), "3 messages, the first of 2 float to rank 1, after 17 collectives");
}

TEST(RecordedOperation, EqualityIgnoresPlaceAndTimes) {
  const RecordedOperation sum = SumForTest(1);
  EXPECT_TRUE(AreSameCall(sum, SumForTest(9, Instant(5), Instant(6))));
  for (const auto change : {+[](RecordedOperation& one) { one.call = "reduce"; },
                            +[](RecordedOperation& one) { one.count = 3; },
                            +[](RecordedOperation& one) { one.type = "int32"; },
                            +[](RecordedOperation& one) { one.reduction = "max"; },
                            +[](RecordedOperation& one) { one.root = 1; }}) {
    RecordedOperation other = sum;
    change(other);
    EXPECT_FALSE(AreSameCall(sum, other)) << ToText(other);
  }
}

TEST(RanksText, JoinsConsecutiveRanks) {
  EXPECT_EQ(RanksText({}), "");
  EXPECT_EQ(RanksNamed({4}), "rank 4");
  EXPECT_EQ(RanksNamed({0, 1, 2, 5, 7, 8}), "ranks 0-2, 5, 7-8");
}

TEST(DurationText, UsesASuitableUnit) {
  EXPECT_EQ(DurationText(std::chrono::microseconds(45)), "45 us");
  EXPECT_EQ(DurationText(std::chrono::milliseconds(120)), "120 ms");
  EXPECT_EQ(DurationText(std::chrono::milliseconds(3210)), "3.2 s");
}

}  // namespace
}  // namespace ringlet::watch
