// That the schedules are right is proven in interpreter_test.cpp; here, that they are cheap.
#include "collective/ring.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ringlet::collective {
namespace {

std::vector<Rank> Ascending(std::uint32_t ranks) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  return order;
}

TEST(EvenChunk, CoversEverythingInOrderAndEvenly) {
  for (std::size_t chunks = 1; chunks <= 9; ++chunks) {
    for (std::size_t count = 0; count <= 40; ++count) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < chunks; ++i) {
        const Range chunk = EvenChunk(count, chunks, i);
        EXPECT_EQ(chunk.begin, next);
        EXPECT_GE(chunk.count, count / chunks);
        EXPECT_LE(chunk.count, count / chunks + 1);
        next = chunk.end();
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(RingAllReduce, SendsTheFewestElements) {
  const std::size_t ranks = 7;
  const std::size_t count = 70;
  for (const Rank self : Ascending(7)) {
    std::size_t sent = 0;
    const Schedule schedule = RingAllReduce(Ascending(ranks), self, count);
    for (const Step& step : schedule.steps) {
      if (step.kind == StepKind::kSend) sent += step.range.count;
    }
    EXPECT_EQ(sent, 2 * (ranks - 1) * count / ranks);
    EXPECT_EQ(schedule.steps.size(), 4 * (ranks - 1));
  }
}

TEST(RingAllReduce, TalksToNeighboursOnTheGivenChannelOnly) {
  const std::vector<Rank> order = {Rank{3}, Rank{0}, Rank{2}, Rank{1}};
  for (const Step& step : RingAllReduce(order, Rank{0}, 8, 5).steps) {
    EXPECT_EQ(step.peer, step.kind == StepKind::kSend ? Rank{2} : Rank{3});
    EXPECT_EQ(step.channel, 5);
  }
}

TEST(RingAllReduce, EmptyChunksAreNotSent) {
  EXPECT_TRUE(RingAllReduce(Ascending(4), Rank{0}, 0).steps.empty());
  for (const Step& step : RingAllReduce(Ascending(4), Rank{0}, 2).steps) {
    EXPECT_EQ(step.range.count, 1u);
  }
}

TEST(RingAllReduce, AloneThereIsNothingToDo) {
  EXPECT_TRUE(RingAllReduce(Ascending(1), Rank{0}, 100).steps.empty());
}

}  // namespace
}  // namespace ringlet::collective
