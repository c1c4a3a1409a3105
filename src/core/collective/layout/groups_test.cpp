#include "collective/layout/groups.hpp"

#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

TEST(Groups, EvenGroupsDifferByAtMostARank) {
  const Groups groups = EvenGroups(7, 3);
  EXPECT_EQ(groups, (Groups{{Rank{0}, Rank{1}, Rank{2}}, {Rank{3}, Rank{4}}, {Rank{5}, Rank{6}}}));
  EXPECT_EQ(SmallestOf(groups), 2u);
  EXPECT_EQ(LargestOf(groups), 3u);
  EXPECT_EQ(InOrder(groups).size(), 7u);
}

TEST(Groups, FindThePlaceOfARank) {
  const auto place = PlaceIn(EvenGroups(7, 3), Rank{4});
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->group, 1u);
  EXPECT_EQ(place->local, 1u);
  EXPECT_FALSE(PlaceIn(EvenGroups(7, 3), Rank{7}).has_value());
}

}  // namespace
}  // namespace ringlet::collective
