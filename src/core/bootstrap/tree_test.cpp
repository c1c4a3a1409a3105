#include "bootstrap/tree.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/value/prng.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(Tree, DividesTheRanksBelowEvenlyAmongChildren) {
  EXPECT_EQ(ChildrenOf({0, 1}, 8), (std::vector<PlaceRange>{}));
  EXPECT_EQ(ChildrenOf({0, 6}, 2), (std::vector<PlaceRange>{{1, 3}, {4, 2}}));
  EXPECT_EQ(ChildrenOf({4, 3}, 8), (std::vector<PlaceRange>{{5, 1}, {6, 1}}));
  EXPECT_EQ(ChildrenOf({0, 9}, 1), (std::vector<PlaceRange>{{1, 8}}));
}

std::vector<std::uint32_t> Alone(std::uint32_t size) {
  std::vector<std::uint32_t> node_leaders(size);
  std::iota(node_leaders.begin(), node_leaders.end(), 0u);
  return node_leaders;
}

std::uint32_t DepthOf(std::uint32_t rank, const std::vector<TreePlace>& places) {
  std::uint32_t depth = 0;
  for (; places[rank].parent; rank = *places[rank].parent)
    if (++depth > places.size()) return depth;  // a loop
  return depth;
}

TEST(Tree, SpansAllRanksForEveryPlacementOnHosts) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Prng prng(seed);
    const auto size = static_cast<std::uint32_t>(1 + prng.Below(80));
    const auto arity = static_cast<std::uint32_t>(1 + prng.Below(9));
    const std::uint64_t hosts = 1 + prng.Below(size);
    std::vector<std::uint32_t> node_leaders = Alone(size);
    if (prng.Chance(0.7))
      for (std::uint32_t& one : node_leaders)
        one = size + static_cast<std::uint32_t>(prng.Below(hosts));  // a rank outside the group
    std::vector<TreePlace> places;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      places.push_back(PlaceInGroup(rank, node_leaders, arity));
    std::uint32_t edges = 0;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      EXPECT_LE(DepthOf(rank, places), size) << "seed " << seed;
      EXPECT_EQ(places[rank].parent.has_value(), rank != 0) << "seed " << seed;
      for (const std::uint32_t child : places[rank].children) {
        ++edges;
        EXPECT_EQ(places[child].parent, rank) << "seed " << seed;
      }
    }
    EXPECT_EQ(edges, size - 1) << "seed " << seed;
  }
}

TEST(Tree, LocalRanksAreChildrenOfTheirNodeLeader) {
  const std::vector<std::uint32_t> node_leaders = {2, 2, 2, 3, 3};
  EXPECT_EQ(PlaceInGroup(2, node_leaders, 8), (TreePlace{{}, {0, 1, 3}}));
  EXPECT_EQ(PlaceInGroup(0, node_leaders, 8), (TreePlace{2, {}}));
  EXPECT_EQ(PlaceInGroup(3, node_leaders, 8), (TreePlace{2, {4}}));
  EXPECT_EQ(PlaceInGroup(4, node_leaders, 8), (TreePlace{3, {}}));
}

TEST(Tree, HasLogarithmicDepth) {
  const std::vector<std::uint32_t> node_leaders = Alone(4096);
  std::vector<TreePlace> places;
  for (std::uint32_t rank = 0; rank < 4096; ++rank)
    places.push_back(PlaceInGroup(rank, node_leaders, 8));
  std::uint32_t deepest = 0;
  for (std::uint32_t rank = 0; rank < 4096; ++rank)
    deepest = std::max(deepest, DepthOf(rank, places));
  EXPECT_EQ(deepest, 4u);
}

}  // namespace
}  // namespace ringlet::bootstrap
