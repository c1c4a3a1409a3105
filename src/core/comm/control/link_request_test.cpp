#include "comm/control/link_request.hpp"

#include <gtest/gtest.h>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(LinkRequest, LinksAmongFewRanksAreLarger) {
  const std::uint64_t usual = Settings().pipe_bytes;
  for (const std::uint32_t ranks : {1u, 2u, 4u}) EXPECT_EQ(PipeBytesFor(usual, ranks), 2u << 20);
  for (const std::uint32_t ranks : {5u, 8u}) EXPECT_EQ(PipeBytesFor(usual, ranks), 1u << 20);
  for (const std::uint32_t ranks : {9u, 64u}) EXPECT_EQ(PipeBytesFor(usual, ranks), usual);
  EXPECT_EQ(PipeBytesFor(8192, 2), 8192u) << "the user's";
}

TEST(LinkRequest, HasTheAddressesOfPeersAndTheSettings) {
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

TEST(LinkRequest, UsesTheNetworkIfSharedMemoryIsForbidden) {
  const EnvMap settings{{"RINGLET_SHM_DISABLE", "1"}};
  RunRanks(2, settings, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const auto request = RequestFor((*formed)->origin(), {Rank{1 - rank}}, (*formed)->peer_table(),
                                    (*formed)->control(), os::SocketDriver::Now());
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_EQ(request->options.choice, LinkChoice::kTcp);
  });
}

/// Returns the request of a rank for a link to rank 1, with these settings.
transport::ConnectRequest RequestWith(const Communicator& mine, const PeerTable& peer_table,
                                      const EnvMap& settings) {
  Origin origin = mine.origin();
  origin.process = ProcessWith(settings);
  auto request = RequestFor(origin, {Rank{1}}, peer_table, mine.control(), Instant(4));
  EXPECT_TRUE(request.ok()) << request.error().message;
  return std::move(request).value();
}

TEST(LinkRequest, RequestsTheLinksOfTheSettings) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 1) return;
    PeerTable peer_table = (*formed)->peer_table();
    peer_table.peer_infos[1].preferred = 1;
    const auto with = [&](const EnvMap& settings) {
      return RequestWith(**formed, peer_table, settings);
    };
    const transport::ConnectRequest request = with({{"RINGLET_SOCKETS_PER_LINK", "2"},
                                                    {"RINGLET_PIPE_BYTES", "8192"},
                                                    {"RINGLET_TCP_CONGESTION", "reno"},
                                                    {"RINGLET_OFI_PROVIDER", "tcp"},
                                                    {"RINGLET_WAIT", "sleep"}});
    EXPECT_EQ(request.deadline, Instant(4));
    EXPECT_EQ(request.credentials.secret, (*formed)->origin().credentials.secret);
    EXPECT_EQ(request.options.choice, LinkChoice::kAuto);
    EXPECT_EQ(request.options.network, LinkChoice::kTcp);
    EXPECT_EQ(request.options.strands, 2u);
    EXPECT_EQ(request.options.pipe_bytes, 8192u);
    EXPECT_EQ(request.options.congestion, "reno");
    EXPECT_EQ(request.options.ofi_provider, "tcp");
    EXPECT_EQ(request.options.waiter.spin, std::chrono::nanoseconds(0));
    EXPECT_GT(with({{"RINGLET_WAIT", "spin"}}).options.waiter.spin, std::chrono::nanoseconds(0));
    EXPECT_EQ(with({{"RINGLET_LINKS", "tcp"}}).options.choice, LinkChoice::kTcp);
    EXPECT_EQ(with({{"RINGLET_LINKS", "shm"}}).options.choice, LinkChoice::kShm);
    EXPECT_EQ(with({{"RINGLET_LINKS", "inproc"}}).options.choice, LinkChoice::kInproc);
    EXPECT_EQ(with({{"RINGLET_SHM_DISABLE", "1"}}).options.choice, LinkChoice::kTcp);
    EXPECT_EQ(with({{"RINGLET_NET", "ofi"}}).options.network, LinkChoice::kOfi);
    EXPECT_EQ(with({{"RINGLET_NET", "ofi"}, {"RINGLET_SHM_DISABLE", "1"}}).options.choice,
              LinkChoice::kOfi);
  });
}

TEST(LinkRequest, DescribesANeighbourByItsPeerInfoAndMemberAddress) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    PeerTable peer_table = (*formed)->peer_table();
    for (const std::size_t preferred : {1u, 2u}) {
      peer_table.peer_infos[1].preferred = preferred;
      const auto request = RequestWith(**formed, peer_table, {});
      EXPECT_EQ(request.self.rank, Rank{rank});
      ASSERT_EQ(request.peers.size(), 1u);
      const transport::Neighbour& peer = request.peers[0];
      const PeerInfo& peer_info = peer_table.peer_infos[1];
      EXPECT_EQ(peer.rank, Rank{1});
      EXPECT_EQ(peer.host, (*formed)->origin().process->host().name);
      EXPECT_EQ(peer.host_hash, peer_info.host_hash);
      EXPECT_EQ(peer.network_namespace, peer_info.network_namespace);
      EXPECT_EQ(peer.process_hash, peer_info.process_hash);
      EXPECT_EQ(peer.tcp, peer_info.tcp);
      EXPECT_FALSE(peer.tcp.empty());
      EXPECT_EQ(peer.preferred, preferred);
      EXPECT_EQ(peer.turn, preferred > 1 ? 1u : 0u) << "the second of its host, where that matters";
      EXPECT_EQ(peer.unix_socket, peer_info.unix_socket);
    }
  });
}

}  // namespace
}  // namespace ringlet::comm
