#include "comm/peers/numa_groups.hpp"

#include <gmock/gmock.h>

namespace ringlet::comm {
namespace {

using testing::ElementsAre;

TEST(NumaGroups, GroupRanksByTheNumaNodesOfPeerInfos) {
  std::vector<PeerInfo> peer_infos(5);
  peer_infos[1].numa = peer_infos[4].numa = 3;
  EXPECT_THAT(NumaGroups(peer_infos, 0),
              ElementsAre(ElementsAre(Rank{0}, Rank{2}, Rank{3}), ElementsAre(Rank{1}, Rank{4})));
}

TEST(NumaGroups, GroupConsecutiveRanksIfASizeIsGiven) {
  std::vector<PeerInfo> peer_infos(5);
  peer_infos[1].numa = 3;
  EXPECT_THAT(NumaGroups(peer_infos, 2),
              ElementsAre(ElementsAre(Rank{0}, Rank{1}), ElementsAre(Rank{2}, Rank{3}),
                          ElementsAre(Rank{4})));
  EXPECT_EQ(NumaGroups(peer_infos, 1).size(), 5u);
}

}  // namespace
}  // namespace ringlet::comm
