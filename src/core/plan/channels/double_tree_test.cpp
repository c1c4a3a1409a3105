#include "plan/channels/double_tree.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace ringlet::plan {
namespace {

using Children = std::array<std::optional<std::uint32_t>, 2>;

TEST(DoubleTreeTest, FiveNodesMatchNccl) {
  EXPECT_EQ(PlaceInTree(0, 5, 0), (DoubleTreePlace{{}, 0, Children{std::nullopt, 4}}));
  EXPECT_EQ(PlaceInTree(4, 5, 0), (DoubleTreePlace{0, 1, Children{2, std::nullopt}}));
  EXPECT_EQ(PlaceInTree(2, 5, 0), (DoubleTreePlace{4, 0, Children{1, 3}}));
  EXPECT_EQ(PlaceInTree(1, 5, 0), (DoubleTreePlace{2, 0, {}}));
  EXPECT_EQ(PlaceInTree(3, 5, 0), (DoubleTreePlace{2, 1, {}}));
  EXPECT_EQ(PlaceInTree(1, 5, 1), (DoubleTreePlace{{}, 0, Children{std::nullopt, 0}}));
  EXPECT_EQ(PlaceInTree(3, 5, 1), (DoubleTreePlace{0, 0, Children{2, 4}}));
}

TEST(DoubleTreeTest, ASecondTreeOfTwoNodesIsMirrored) {
  EXPECT_EQ(PlaceInTree(0, 2, 0).children[1], 1u);
  EXPECT_EQ(PlaceInTree(1, 2, 1).children[1], 0u);
}

// Checks that every node is below the root, parents and children agree, and the depth is low.
void ExpectTree(std::uint32_t nodes, std::uint32_t tree) {
  std::uint32_t roots = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const DoubleTreePlace place = PlaceInTree(node, nodes, tree);
    if (!place.parent)
      ++roots;
    else
      ASSERT_EQ(PlaceInTree(*place.parent, nodes, tree).children[place.side], node);
    for (std::uint32_t side = 0; side < 2; ++side) {
      if (!place.children[side]) continue;
      const DoubleTreePlace child = PlaceInTree(*place.children[side], nodes, tree);
      ASSERT_EQ(child.parent, node);
      ASSERT_EQ(child.side, side);
    }
    std::uint32_t depth = 0;
    for (auto at = place.parent; at; at = PlaceInTree(*at, nodes, tree).parent)
      ASSERT_LE(++depth, static_cast<std::uint32_t>(std::bit_width(nodes))) << nodes << " " << node;
  }
  ASSERT_EQ(roots, 1u) << nodes;
}

TEST(DoubleTreeTest, EverySizeIsATree) {
  for (std::uint32_t nodes = 1; nodes <= 300; ++nodes)
    for (std::uint32_t tree = 0; tree < 2; ++tree) ExpectTree(nodes, tree);
}

// With an odd number of nodes, one node is an unavoidable exception.
TEST(DoubleTreeTest, AlmostEveryNodeIsALeafInExactlyOneTree) {
  for (std::uint32_t nodes = 2; nodes <= 300; ++nodes) {
    std::uint32_t never = 0, twice = 0;
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const bool first = PlaceInTree(node, nodes, 0).leaf();
      const bool second = PlaceInTree(node, nodes, 1).leaf();
      never += !first && !second;
      twice += first && second;
    }
    EXPECT_LE(never, nodes % 2) << nodes;
    EXPECT_EQ(twice, 0u) << nodes;
  }
}

}  // namespace
}  // namespace ringlet::plan
