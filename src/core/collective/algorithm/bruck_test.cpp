// Checks the cost of the schedules. algorithm_test.cpp proves their results.
#include "collective/algorithm/bruck.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ringlet::collective {
namespace {

std::set<Rank> ReceiversOf(const Schedule& schedule) {
  std::set<Rank> receivers;
  for (const Step& step : schedule.steps)
    if (step.kind == StepKind::kSend) receivers.insert(step.peer);
  return receivers;
}

std::size_t ElementsSentByBruck(const Schedule& schedule) {
  std::size_t elements = 0;
  for (const Step& step : schedule.steps)
    if (step.kind == StepKind::kSend) elements += step.count;
  return elements;
}

TEST(Bruck, SendsToALogarithmicNumberOfRanks) {
  EXPECT_EQ(ReceiversOf(BruckAllGather({Rank{1}, 9}, 3)).size(), 4u);
  EXPECT_EQ(ReceiversOf(BruckAllToAll({Rank{1}, 9}, 3)).size(), 4u);
  EXPECT_EQ(ReceiversOf(DisseminationBarrier({Rank{1}, 9}, 1)).size(), 4u);
}

TEST(BruckAllGather, SendsAsFewElementsAsARing) {
  EXPECT_EQ(ElementsSentByBruck(BruckAllGather({Rank{1}, 9}, 3)), 8u * 3);
}

TEST(BruckAllToAll, PacksBlocksForTheSamePeerIntoAMessage) {
  const Schedule schedule = BruckAllToAll({Rank{0}, 8}, 2);
  std::size_t messages = 0;
  for (const Step& step : schedule.steps) {
    if (step.kind != StepKind::kSend) continue;
    EXPECT_EQ(step.count, 4u * 2);
    ++messages;
  }
  EXPECT_EQ(messages, 3u);
}

}  // namespace
}  // namespace ringlet::collective
