#include "comm/census.hpp"

#include <gtest/gtest.h>

#include "comm/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(Census, IsTheSameOnAllRanksAndHasEachHostOnce) {
  // Ranks 0, 1, 3 on one host, rank 2 on another, as far as their ids tell.
  std::vector<Census> taken(4);
  RunRanks(
      4,
      [](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_HOSTID", rank == 2 ? "b" : "a"}, {"RINGLET_LINKS", "tcp"}});
      },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        taken[rank] = (*communicator)->census();
        EXPECT_TRUE(SumOfRanks(**communicator, 10).ok());
      });
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const Census& census = taken[rank];
    EXPECT_EQ(census.cards, taken[0].cards);
    EXPECT_EQ(census.hosts, taken[0].hosts);
    ASSERT_EQ(census.hosts.size(), 2u);
    EXPECT_EQ(census.places[2].host, 1u);
    EXPECT_EQ(census.places[3].host, 0u);
    EXPECT_EQ(census.ranks_on_host, rank == 2 ? 1u : 3u);
    EXPECT_EQ(census.cards[rank].device, rank);
  }
}

}  // namespace
}  // namespace ringlet::comm
