#include "comm/control/link_request.hpp"

#include <gtest/gtest.h>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(LinkRequest, HasThePlacesOfPeersAndTheSettings) {
  const EnvMap settings{{"RINGLET_LINKS", "tcp"}, {"RINGLET_SOCKETS_PER_LINK", "3"}};
  RunRanks(3, settings, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const PeerTable& peer_table = (*formed)->peer_table();
    const Rank peer{(rank + 1) % 3};
    const auto request = RequestFor((*formed)->origin(), {peer}, peer_table, (*formed)->control(),
                                    os::SocketDriver::Now());
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_EQ(request->self.rank, Rank{rank});
    ASSERT_EQ(request->peers.size(), 1u);
    EXPECT_EQ(request->peers[0].rank, peer);
    EXPECT_EQ(request->peers[0].tcp, peer_table.peer_infos[Index(peer)].tcp);
    EXPECT_FALSE(request->peers[0].tcp.empty());
    EXPECT_FALSE(request->peers[0].host.empty());
    EXPECT_EQ(request->options.choice, LinkChoice::kTcp);
    EXPECT_EQ(request->options.strands, 3u);
  });
}

TEST(LinkRequest, ForbiddenSharedMemoryLeavesTheNetwork) {
  const EnvMap settings{{"RINGLET_SHM_DISABLE", "1"}};
  RunRanks(2, settings, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const auto request = RequestFor((*formed)->origin(), {Rank{1 - rank}}, (*formed)->peer_table(),
                                    (*formed)->control(), os::SocketDriver::Now());
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_EQ(request->options.choice, LinkChoice::kTcp);
  });
}

}  // namespace
}  // namespace ringlet::comm
