#include "bootstrap/world_ranks.hpp"

#include <gtest/gtest.h>

namespace ringlet::bootstrap {
namespace {

std::shared_ptr<const Survivors> Without(std::uint32_t ranks, std::vector<std::uint32_t> left_out) {
  return std::make_shared<Survivors>(ranks, std::move(left_out));
}

TEST(WorldRanks, TheWorldKeepsItsNumbers) {
  const WorldRanks world;
  EXPECT_EQ(world.ToWorld(5), 5u);
  EXPECT_EQ(world.FromWorld(5), 5u);
  const WorldRanks rest = world.Without(Without(6, {0, 3}));
  EXPECT_EQ(rest.ToWorld(2), 4u);
  EXPECT_EQ(rest.FromWorld(4), 2u);
  EXPECT_FALSE(rest.FromWorld(3));
  EXPECT_FALSE(rest.FromWorld(6));
  EXPECT_EQ(rest.PlaceInList(3), 3u);
}

TEST(WorldRanks, AListHasItsOwnOrder) {
  const WorldRanks ranks({7, 2, 9});
  EXPECT_EQ(ranks.ToWorld(0), 7u);
  EXPECT_EQ(ranks.FromWorld(2), 1u);
  EXPECT_FALSE(ranks.FromWorld(3));
  const WorldRanks rest = ranks.Without(Without(3, {1}));
  EXPECT_EQ(rest.ToWorld(1), 9u);
  EXPECT_EQ(rest.FromWorld(9), 1u);
  EXPECT_FALSE(rest.FromWorld(2)) << "it was left out";
  EXPECT_EQ(rest.PlaceInList(2), 1u);
  EXPECT_EQ(rest.Without(Without(3, {0, 1})).ToWorld(0), 9u) << "it counts in the list";
}

}  // namespace
}  // namespace ringlet::bootstrap
