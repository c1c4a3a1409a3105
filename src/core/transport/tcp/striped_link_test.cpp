#include "transport/tcp/striped_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "base/value/prng.hpp"
#include "transport/tcp/tcp_link.hpp"

namespace ringlet::transport {
namespace {

// Two ends over socket pairs, with stripes of 5 bytes.
struct StripedRig {
  explicit StripedRig(std::size_t strands, int buffer_bytes = 0) {
    std::vector<std::unique_ptr<Link>> of_end[2];
    for (std::size_t i = 0; i < strands; ++i) {
      std::array<int, 2> fds{};
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
      for (std::size_t end = 0; end < 2; ++end) {
        if (buffer_bytes > 0)
          ::setsockopt(fds[end], SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
        of_end[end].push_back(
            std::make_unique<TcpLink>(TcpLinkParts{.peer = static_cast<Rank>(1 - end),
                                                   .peer_name = "strand " + std::to_string(i),
                                                   .socket = os::Fd(fds[end]),
                                                   .options = {.receive_buffer_bytes = 64}}));
      }
      sockets.push_back(fds[0]);
    }
    for (std::size_t end = 0; end < 2; ++end)
      ends[end] = std::make_unique<StripedLink>(std::move(of_end[end]), 5);
  }
  std::vector<int> sockets;  // sockets of end 0
  std::unique_ptr<StripedLink> ends[2];
};

Bytes Random(std::size_t count, Prng& prng) {
  Bytes out(count);
  for (std::byte& byte : out) byte = static_cast<std::byte>(prng.Below(256));
  return out;
}

TEST(StripedLink, DividesTheStreamIntoStripes) {
  StripedRig rig(3);
  ASSERT_EQ(rig.ends[1]->Write(AsView("aaaaabbbbbcccccddddde")).value(), 21u);
  const std::array<std::string, 3> due = {"aaaaaddddd", "bbbbbe", "ccccc"};
  for (std::size_t i = 0; i < 3; ++i) {
    std::array<char, 32> got{};
    const ssize_t bytes = ::recv(rig.sockets[i], got.data(), got.size(), MSG_PEEK);
    EXPECT_EQ(std::string(got.data(), static_cast<std::size_t>(bytes)), due[i]);
  }
  EXPECT_EQ(AsText(rig.ends[0]->Peek().value()), "aaaaa");
  rig.ends[0]->Consume(4);
  EXPECT_EQ(AsText(rig.ends[0]->Peek().value()), "a");
  Bytes rest(40);
  EXPECT_EQ(rig.ends[0]->Read(rest).value(), 17u);
  EXPECT_EQ(AsText(rest).substr(0, 17), "abbbbbcccccddddde");
}

TEST(StripedLink, KeepsTheOrderForAnyPartialWrites) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    StripedRig rig(2 + prng.Below(3), 2048);
    const Bytes sent = Random(100'000, prng);
    Bytes got;
    for (std::size_t written = 0; got.size() < sent.size();) {
      const std::size_t some = std::min(sent.size() - written, prng.Below(9000));
      written += rig.ends[0]->Write(View(sent).subspan(written, some)).value();
      if (prng.Chance(0.5)) {
        const View seen = rig.ends[1]->Peek().value();
        got.insert(got.end(), seen.begin(), seen.end());
        rig.ends[1]->Consume(seen.size());
      } else {
        Bytes piece(prng.Below(9000));
        piece.resize(rig.ends[1]->Read(piece).value());
        got.insert(got.end(), piece.begin(), piece.end());
      }
    }
    EXPECT_EQ(got, sent);
  }
}

TEST(StripedLink, ALostStrandFailsTheLinkAfterTheReceivedData) {
  StripedRig rig(2);
  ASSERT_EQ(rig.ends[0]->Write(AsView("aaaaabb")).value(), 7u);
  ::shutdown(rig.sockets[1], SHUT_RDWR);
  Bytes got(20);
  EXPECT_EQ(rig.ends[1]->Read(got).value(), 7u);
  for (int again = 0; again < 2; ++again) {
    const auto end = rig.ends[1]->Read(got);
    ASSERT_FALSE(end.ok());
    EXPECT_EQ(end.error().code, Code::kPeerLost);
    EXPECT_THAT(end.error().message, testing::HasSubstr("strand 1"));
  }
  EXPECT_FALSE(rig.ends[0]->Write(AsView("bbbcccccc")).ok());
  EXPECT_FALSE(rig.ends[0]->Write(AsView("b")).ok());
}

}  // namespace
}  // namespace ringlet::transport
