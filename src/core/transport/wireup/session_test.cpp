#include "transport/wireup/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>

#include "transport/wireup/ranks_for_test.hpp"

namespace ringlet::transport {
namespace {

using testing::HasSubstr;

SessionParts Parts(std::uint32_t self, std::uint32_t peer, const Address& to) {
  SessionParts parts;
  parts.wireup.self = static_cast<Rank>(self);
  parts.wireup.credentials = kTestCredentials;
  parts.wireup.nonce_seed = UniqueSeed();
  parts.wireup.deadline = os::Now() + std::chrono::seconds(30);
  parts.wireup.peers.push_back(
      WireupPeer{.rank = static_cast<Rank>(peer),
                 .host = "testhost",
                 .role = self < peer ? WireupPeer::Role::kDial : WireupPeer::Role::kAccept,
                 .purpose = Purpose::kData,
                 .addresses = {to},
                 .offer = Bytes(3),
                 .descriptors = {}});
  return parts;
}

TEST(Session, TwoThreadsGetBothEndsOfASocket) {
  DriverThread service;
  TestRank called(1);
  SessionParts accepting = Parts(1, 0, {});
  accepting.listeners = std::move(called.endpoint.listeners);
  std::optional<Result<std::vector<ConnectedPeerLine>>> accepted;
  std::thread other([&] { accepted = RunSession(std::move(accepting), service.driver(), {}); });
  auto dialled = RunSession(Parts(0, 1, called.neighbour.tcp[0]), service.driver(), {});
  other.join();
  ASSERT_TRUE(dialled.ok() && accepted->ok());
  ASSERT_TRUE((*dialled)[0].socket.valid());
  ASSERT_EQ(::send((*dialled)[0].socket.get(), "x", 1, 0), 1);
  EXPECT_EQ((*dialled)[0].met.offer.size(), 3u);
  char got = 0;
  while (::recv((**accepted)[0].socket.get(), &got, 1, 0) < 0) {
  }
  EXPECT_EQ(got, 'x');
}

TEST(Session, ReturnsConnectedRanksBeforeTheOthers) {
  DriverThread service;
  TestRank called(1);
  SessionParts accepting = Parts(1, 0, {});
  accepting.listeners = std::move(called.endpoint.listeners);
  accepting.wireup.peers.push_back(
      Parts(1, 2, Address::Unix("ringlet-test-nobody-is-there")).wireup.peers[0]);
  std::promise<std::size_t> came;
  accepting.met = [&](std::size_t peer, ConnectedPeerLine line) {
    EXPECT_TRUE(line.socket.valid());
    EXPECT_EQ(line.met.peer, Rank{0});
    came.set_value(peer);
  };
  std::stop_source abort;
  std::optional<Result<std::vector<ConnectedPeerLine>>> accepted;
  std::thread other(
      [&] { accepted = RunSession(std::move(accepting), service.driver(), abort.get_token()); });
  EXPECT_TRUE(RunSession(Parts(0, 1, called.neighbour.tcp[0]), service.driver(), {}).ok());
  EXPECT_EQ(came.get_future().get(), 0u);
  abort.request_stop();
  other.join();
  EXPECT_EQ(accepted->error().code, Code::kAborted);
}

TEST(Session, TheDeadlineEndsTheSession) {
  DriverThread service;
  SessionParts parts = Parts(0, 1, Address::Unix("ringlet-test-nobody-listens-here"));
  parts.wireup.deadline = os::Now();
  const auto lines = RunSession(std::move(parts), service.driver(), {});
  ASSERT_FALSE(lines.ok());
  EXPECT_EQ(lines.error().code, Code::kTimeout);
  EXPECT_THAT(lines.error().message, HasSubstr("rank 1 on testhost"));
}

TEST(Session, AnAbortEndsTheSession) {
  DriverThread service;
  std::stop_source abort;
  std::thread other([&] { abort.request_stop(); });
  const auto lines = RunSession(Parts(1, 0, {}), service.driver(), abort.get_token());
  other.join();
  ASSERT_FALSE(lines.ok());
  EXPECT_EQ(lines.error().code, Code::kAborted);
}

}  // namespace
}  // namespace ringlet::transport
