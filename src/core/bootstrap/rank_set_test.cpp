#include "bootstrap/rank_set.hpp"

#include <gmock/gmock.h>

namespace ringlet::bootstrap {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RankSet, KeepsEachRankOnceInOrder) {
  RankSet set{5, 2, 5};
  set.Insert(9);
  set.Insert(2);
  EXPECT_THAT(set.ranks(), ElementsAre(2, 5, 9));
  EXPECT_TRUE(set.Contains(5));
  EXPECT_FALSE(set.Contains(4));
}

TEST(RankSet, AMergeReturnsWhatWasAdded) {
  RankSet set{2, 5};
  EXPECT_THAT(set.Merge({1, 2, 7}), ElementsAre(1, 7));
  EXPECT_THAT(set.ranks(), ElementsAre(1, 2, 5, 7));
  EXPECT_THAT(set.Merge({1, 2, 5, 7}), IsEmpty());
  EXPECT_THAT(set.Merge({}), IsEmpty());
  EXPECT_THAT(set.ranks(), ElementsAre(1, 2, 5, 7));
}

}  // namespace
}  // namespace ringlet::bootstrap
