// Checks the cost of the schedules. algorithm_test.cpp proves their results.
#include "collective/algorithm/doubling.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ringlet::collective {
namespace {

std::vector<Rank> RanksUpTo(std::uint32_t ranks) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  return order;
}

struct Sent {
  std::size_t messages = 0;
  std::size_t elements = 0;
};

Sent SentBy(const Schedule& schedule) {
  Sent sent;
  for (const Step& step : schedule.steps) {
    if (step.kind != StepKind::kSend) continue;
    ++sent.messages;
    sent.elements += step.count;
  }
  return sent;
}

TEST(DoublingAllReduce, TakesLogarithmicRounds) {
  const Sent sent = SentBy(DoublingAllReduce(RanksUpTo(16), Rank{5}, 10));
  EXPECT_EQ(sent.messages, 4u);
  EXPECT_EQ(sent.elements, 40u);
}

TEST(DoublingAllReduce, RanksBeyondAPowerOfTwoSendOnce) {
  EXPECT_EQ(SentBy(DoublingAllReduce(RanksUpTo(6), Rank{0}, 10)).messages, 1u);
  EXPECT_EQ(SentBy(DoublingAllReduce(RanksUpTo(6), Rank{1}, 10)).messages, 3u);
  EXPECT_EQ(SentBy(DoublingAllReduce(RanksUpTo(6), Rank{5}, 10)).messages, 2u);
}

TEST(HalvingAllReduce, SendsTheFewestElementsInFewRounds) {
  const Sent sent = SentBy(HalvingAllReduce(RanksUpTo(8), Rank{3}, 80));
  EXPECT_EQ(sent.messages, 6u);
  EXPECT_EQ(sent.elements, 140u);
}

TEST(HalvingReduceScatter, SendsEachShareOnce) {
  const Sent sent = SentBy(HalvingReduceScatter({Rank{3}, 8}, 10));
  EXPECT_EQ(sent.messages, 3u);
  EXPECT_EQ(sent.elements, 70u);
}

TEST(DoublingAllGather, SendsEachBlockOnce) {
  const Sent sent = SentBy(DoublingAllGather({Rank{3}, 8}, 10));
  EXPECT_EQ(sent.messages, 3u);
  EXPECT_EQ(sent.elements, 70u);
}

}  // namespace
}  // namespace ringlet::collective
