#include "bootstrap/tree.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ringlet::bootstrap {
namespace {

TEST(Tree, EveryRankHasTheParentThatNamesItAsChild) {
  for (std::uint32_t size = 1; size <= 130; ++size)
    for (const std::uint32_t arity : {1u, 2u, 3u, 8u, 200u}) {
      std::vector<int> named(size, 0);
      for (std::uint32_t r = 0; r < size; ++r) {
        const TreePlace place = PlaceInTree(Rank{r}, size, arity);
        EXPECT_LE(place.children.size(), arity);
        std::uint32_t next = r + 1;
        for (const RankRange& child : place.children) {
          EXPECT_EQ(child.first, next) << "ranges are contiguous";
          next += child.count;
          ++named[child.first];
          const TreePlace below = PlaceInTree(Rank{child.first}, size, arity);
          EXPECT_EQ(below.parent, Rank{r});
          EXPECT_EQ(below.subtree, child);
        }
        EXPECT_EQ(next, place.subtree.first + place.subtree.count);
      }
      EXPECT_EQ(named[0], 0);
      for (std::uint32_t r = 1; r < size; ++r) EXPECT_EQ(named[r], 1) << "rank " << r;
    }
}

TEST(Tree, DepthIsLogarithmic) {
  const std::uint32_t size = 1'000'000;
  std::uint32_t depth = 0;
  for (Rank rank{size - 1}; Index(rank) != 0; ++depth) rank = *PlaceInTree(rank, size, 8).parent;
  EXPECT_LE(depth, 8u);
}

}  // namespace
}  // namespace ringlet::bootstrap
