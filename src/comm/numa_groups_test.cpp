#include "comm/numa_groups.hpp"

#include <gmock/gmock.h>

namespace ringlet::comm {
namespace {

using testing::ElementsAre;

TEST(NumaGroups, FollowTheNodesOfTheCards) {
  std::vector<Card> cards(5);
  cards[1].numa = cards[4].numa = 3;
  EXPECT_THAT(NumaGroups(cards, 0),
              ElementsAre(ElementsAre(Rank{0}, Rank{2}, Rank{3}), ElementsAre(Rank{1}, Rank{4})));
}

TEST(NumaGroups, OrSoManyInARow) {
  std::vector<Card> cards(5);
  cards[1].numa = 3;
  EXPECT_THAT(NumaGroups(cards, 2),
              ElementsAre(ElementsAre(Rank{0}, Rank{1}), ElementsAre(Rank{2}, Rank{3}),
                          ElementsAre(Rank{4})));
  EXPECT_EQ(NumaGroups(cards, 1).size(), 5u);
}

}  // namespace
}  // namespace ringlet::comm
