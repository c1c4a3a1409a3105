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

ControlTree TreeOf(const std::vector<std::uint32_t>& node_leaders) {
  return ControlTree(std::make_shared<TreeLayout>(node_leaders));
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
    const ControlTree tree = TreeOf(node_leaders);
    for (std::uint32_t rank = 0; rank < size; ++rank) places.push_back(tree.PlaceOf(rank, arity));
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

// Random ranks are left out, some of them all ranks of a place.
TEST(Tree, WithoutSomeRanksItSpansTheOthersAndKeepsTheirConnections) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Prng prng(seed);
    const auto size = static_cast<std::uint32_t>(2 + prng.Below(80));
    const auto arity = static_cast<std::uint32_t>(1 + prng.Below(9));
    const auto on_host = static_cast<std::uint32_t>(1 + prng.Below(5));
    std::vector<std::uint32_t> node_leaders, left_out;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      node_leaders.push_back(rank / on_host * on_host);
    const double share = static_cast<double>(prng.Below(10)) / 10;
    for (std::uint32_t rank = 0; rank < size && left_out.size() + 1 < size; ++rank)
      if (prng.Chance(share)) left_out.push_back(rank);
    const auto layout = std::make_shared<TreeLayout>(node_leaders);
    const auto survivors = std::make_shared<Survivors>(size, left_out);
    const ControlTree whole(layout), rest(layout, survivors);
    std::vector<TreePlace> places;
    for (std::uint32_t rank = 0; rank < survivors->size(); ++rank)
      places.push_back(rest.PlaceOf(rank, arity));
    std::uint32_t edges = 0, tops = 0, new_edges = 0;
    for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
      tops += !places[rank].parent;
      EXPECT_LE(DepthOf(rank, places), size) << "seed " << seed;
      const TreePlace before = whole.PlaceOf(survivors->OldRank(rank), arity);
      for (const std::uint32_t child : places[rank].children) {
        ++edges;
        EXPECT_EQ(places[child].parent, rank) << "seed " << seed;
        new_edges += !std::ranges::count(before.children, survivors->OldRank(child));
      }
    }
    EXPECT_EQ(tops, 1u) << "seed " << seed;
    EXPECT_EQ(edges, places.size() - 1) << "seed " << seed;
    // A top rank has at most its ranks, its children and its parent next to it, and so has the one
    // that takes its place.
    EXPECT_LE(new_edges, 2 * left_out.size() * (arity + on_host)) << "seed " << seed;
  }
}

TEST(Tree, ALeftOutRankIsReplacedFromItsPlaceOrFromTheLastPlace) {
  // Places 0 to 4 with two ranks each; 1 and 3 are below 0, 2 below 1, 4 below 3.
  const auto layout =
      std::make_shared<TreeLayout>(std::vector<std::uint32_t>{0, 0, 2, 2, 4, 4, 6, 6, 8, 8});
  const auto place = [&](std::vector<std::uint32_t> left_out, std::uint32_t old_rank) {
    const auto survivors = std::make_shared<Survivors>(10, std::move(left_out));
    const TreePlace at =
        ControlTree(layout, survivors).PlaceOf(survivors->NewRank(old_rank).value(), 2);
    TreePlace old;
    if (at.parent) old.parent = survivors->OldRank(*at.parent);
    for (const std::uint32_t child : at.children) old.children.push_back(survivors->OldRank(child));
    return old;
  };
  EXPECT_EQ(place({2}, 3), (TreePlace{0, {4}})) << "of the same place";
  EXPECT_EQ(place({2}, 0), (TreePlace{{}, {1, 3, 6}}));
  EXPECT_EQ(place({3}, 2), (TreePlace{0, {4}})) << "nothing is below rank 3";
  EXPECT_EQ(place({2, 3}, 8), (TreePlace{0, {9, 4}})) << "from the last place";
  EXPECT_EQ(place({2, 3}, 6), (TreePlace{0, {7}})) << "its child has moved";
  EXPECT_EQ(place({0, 1}, 8), (TreePlace{{}, {9, 2, 6}})) << "at the top";
  EXPECT_EQ(place({8, 9}, 6), (TreePlace{0, {7}})) << "no place after the last one";
  EXPECT_EQ(place({0, 1, 2, 8}, 9), (TreePlace{{}, {3, 6}}));
}

TEST(Tree, ATopRankHasSuccessors) {
  const auto layout = std::make_shared<TreeLayout>(std::vector<std::uint32_t>{0, 0, 0, 0, 4, 4});
  const ControlTree whole(layout);
  EXPECT_EQ(whole.SuccessorsOf(0).ranks, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(whole.SuccessorsOf(0).left_out, 0u);
  EXPECT_TRUE(whole.SuccessorsOf(1).ranks.empty()) << "it is not a top rank";
  const ControlTree rest(layout, std::make_shared<Survivors>(6, std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(rest.SuccessorsOf(0).ranks, std::vector<std::uint32_t>{1}) << "old ranks 1 and 3";
  EXPECT_EQ(rest.SuccessorsOf(0).left_out, 2u);
  EXPECT_EQ(rest.SuccessorsOf(2).ranks, std::vector<std::uint32_t>{3}) << "old ranks 4 and 5";
}

TEST(Tree, LocalRanksAreChildrenOfTheirNodeLeader) {
  const ControlTree tree = TreeOf({2, 2, 2, 3, 3});
  EXPECT_EQ(tree.PlaceOf(2, 8), (TreePlace{{}, {0, 1, 3}}));
  EXPECT_EQ(tree.PlaceOf(0, 8), (TreePlace{2, {}}));
  EXPECT_EQ(tree.PlaceOf(3, 8), (TreePlace{2, {4}}));
  EXPECT_EQ(tree.PlaceOf(4, 8), (TreePlace{3, {}}));
}

TEST(Tree, HasLogarithmicDepth) {
  const ControlTree tree = TreeOf(Alone(4096));
  std::vector<TreePlace> places;
  for (std::uint32_t rank = 0; rank < 4096; ++rank) places.push_back(tree.PlaceOf(rank, 8));
  std::uint32_t deepest = 0;
  for (std::uint32_t rank = 0; rank < 4096; ++rank)
    deepest = std::max(deepest, DepthOf(rank, places));
  EXPECT_EQ(deepest, 4u);
}

}  // namespace
}  // namespace ringlet::bootstrap
