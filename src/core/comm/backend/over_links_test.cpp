#include "comm/backend/over_links.hpp"

#include <gmock/gmock.h>

#include "comm/backend/backends_for_test.hpp"

namespace ringlet::comm {
namespace {

const EnvMap kTcp = {{"RINGLET_LINKS", "tcp"}};

TEST(OverLinksBackend, RunsTheAlgorithmThatTheUserChose) {
  RunFormed(3, {{"RINGLET_LINKS", "tcp"}, {"RINGLET_HOST_ALGO", "ring"}},
            [](std::uint32_t, Communicator& mine) {
              const Profile::AlgorithmNames way = mine.backend().AlgorithmNamesOf({.count = 1000});
              EXPECT_STREQ(way.algorithm, "ring");
              EXPECT_EQ(way.channels, 1u);
              EXPECT_TRUE(mine.backend().HasChannels());
              EXPECT_TRUE(SumOfRanks(mine, 1000).ok());
            });
}

TEST(OverLinksBackend, RebuildsFreedPrograms) {
  RunFormed(2, kTcp, [](std::uint32_t, Communicator& mine) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(SumOfRanks(mine, 100).ok());
      EXPECT_TRUE(Barrier(mine).ok());
      EXPECT_TRUE(mine.FreeWorkingMemory().ok());
      EXPECT_EQ(mine.memory_use().working, 0u);
    }
  });
}

TEST(OverLinksBackend, ABarrierIgnoresItsCount) {
  RunFormed(2, kTcp, [](std::uint32_t rank, Communicator& mine) {
    const Call barrier{.kind = CallKind::kBarrier, .count = 3000 + rank};
    EXPECT_TRUE(mine.Run(barrier).ok());
    EXPECT_TRUE(SumOfRanks(mine, 8).ok());
  });
}

// Uses more shapes than a communicator keeps.
TEST(OverLinksBackend, RunsCallsOfManyShapes) {
  RunFormed(2, kTcp, [](std::uint32_t, Communicator& mine) {
    for (std::size_t count = 1; count <= 70; ++count)
      ASSERT_TRUE(SumOfRanks(mine, count).ok()) << count;
    EXPECT_TRUE(SumOfRanks(mine, 1).ok());
  });
}

}  // namespace
}  // namespace ringlet::comm
