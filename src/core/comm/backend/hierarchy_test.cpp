#include "comm/backend/hierarchy.hpp"

#include <gmock/gmock.h>

#include "comm/backend/backends_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(HierarchyBackend, CallsUseMemoryWithinAHostAndLinksBetweenHosts) {
  RunOnTwoHosts([](std::uint32_t rank, Communicator& mine) {
    EXPECT_THAT(mine.backend().AlgorithmNamesOf({.count = 1000}).algorithm,
                testing::HasSubstr("shared"));
    ASSERT_TRUE(SumOfRanks(mine, 1000).ok());
    EXPECT_EQ(mine.links().Find(Rank{rank ^ 1}), nullptr) << "the other rank of the host";
    for (const std::size_t count : {1u, 1000u, 100000u}) EXPECT_TRUE(SumOfRanks(mine, count).ok());
    EXPECT_TRUE(Barrier(mine).ok());
    EXPECT_TRUE(mine.FreeWorkingMemory().ok());
    EXPECT_TRUE(SumOfRanks(mine, 1000).ok());
  });
}

TEST(HierarchyBackend, AHostWithASingleRankTakesPart) {
  RunRanks(
      3,
      [](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_HOSTID", "host-" + std::to_string(rank / 2)}});
      },
      [](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        EXPECT_TRUE(SumOfRanks(**formed, 1000).ok());
        EXPECT_TRUE(SumOfRanks(**formed, 0).ok()) << "without elements";
        EXPECT_TRUE(Barrier(**formed).ok());
      });
}

}  // namespace
}  // namespace ringlet::comm
