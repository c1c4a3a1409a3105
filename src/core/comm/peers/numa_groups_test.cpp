#include "comm/peers/numa_groups.hpp"

#include <gmock/gmock.h>

namespace ringlet::comm {
namespace {

using testing::ElementsAre;

TEST(NumaGroups, GroupRanksByTheNumaNodesOfPeerInfos) {
  std::vector<PeerInfo> peer_infos(7);
  const std::vector<Rank> host = {Rank{0}, Rank{2}, Rank{3}, Rank{5}, Rank{6}};
  peer_infos[2].numa = peer_infos[6].numa = 3;
  peer_infos[1].numa = peer_infos[4].numa = 4;  // of another host
  EXPECT_THAT(NumaGroups(peer_infos, host, 0),
              ElementsAre(ElementsAre(Rank{0}, Rank{2}, Rank{3}), ElementsAre(Rank{1}, Rank{4})));
}

TEST(NumaGroups, GroupConsecutiveRanksIfASizeIsGiven) {
  std::vector<PeerInfo> peer_infos(7);
  const std::vector<Rank> host = {Rank{0}, Rank{2}, Rank{3}, Rank{5}, Rank{6}};
  peer_infos[2].numa = 3;
  EXPECT_THAT(NumaGroups(peer_infos, host, 2),
              ElementsAre(ElementsAre(Rank{0}, Rank{1}), ElementsAre(Rank{2}, Rank{3}),
                          ElementsAre(Rank{4})));
  EXPECT_EQ(NumaGroups(peer_infos, host, 1).size(), 5u);
}

}  // namespace
}  // namespace ringlet::comm
