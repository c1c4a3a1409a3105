#include "transport/tcp/tcp_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace ringlet::transport {
namespace {

using testing::HasSubstr;

// Two links over a socket pair, which provides what a link needs of a socket, without ports.
struct TcpRig {
  explicit TcpRig(std::size_t receive_buffer_bytes = 64, Bytes arrived = {}) {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    TcpOptions options;
    options.receive_buffer_bytes = receive_buffer_bytes;
    for (std::size_t i = 0; i < 2; ++i)
      ends[i] = std::make_unique<TcpLink>(
          TcpLinkParts{.peer = static_cast<Rank>(1 - i),
                       .peer_name = "rank " + std::to_string(1 - i) + " on here",
                       .socket = os::Fd(fds[i]),
                       .arrived = i == 0 ? std::move(arrived) : Bytes(),
                       .options = options});
  }
  std::unique_ptr<TcpLink> ends[2];
};

Bytes Digits(std::size_t count) {
  Bytes out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>('0' + i % 10);
  return out;
}

TEST(TcpLink, ReadsDirectlyAndAhead) {
  TcpRig rig;
  ASSERT_EQ(rig.ends[1]->Write(Digits(50)).value(), 50u);
  Bytes out(50);
  EXPECT_EQ(rig.ends[0]->Read(std::span(out).first(5)).value(), 5u);  // the rest is read ahead
  EXPECT_EQ(rig.ends[0]->Peek()->size(), 45u);
  rig.ends[0]->Consume(1);
  ASSERT_EQ(rig.ends[1]->Write(AsView("x")).value(), 1u);
  EXPECT_EQ(rig.ends[0]->Read(out).value(), 45u);  // from the buffer and from the socket
  EXPECT_EQ(AsText(out).substr(0, 5), "67890");
  EXPECT_EQ(AsText(out)[44], 'x');
  EXPECT_EQ(rig.ends[0]->Read(out).value(), 0u);
}

TEST(TcpLink, PeekIncludesLaterBytes) {
  TcpRig rig(8);
  ASSERT_EQ(rig.ends[1]->Write(AsView("123")).value(), 3u);
  EXPECT_EQ(AsText(rig.ends[0]->Peek().value()), "123");
  ASSERT_EQ(rig.ends[1]->Write(AsView("456789abc")).value(), 9u);
  EXPECT_EQ(AsText(rig.ends[0]->Peek().value()), "12345678");
  rig.ends[0]->Consume(7);
  EXPECT_EQ(AsText(rig.ends[0]->Peek().value()), "89abc");
}

TEST(TcpLink, PeekAtAFullBufferLosesNoByte) {
  TcpRig rig(8);
  ASSERT_EQ(rig.ends[1]->Write(Digits(12)).value(), 12u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AsText(rig.ends[0]->Peek().value()), "01234567");
  rig.ends[0]->Consume(8);
  EXPECT_EQ(AsText(rig.ends[0]->Peek().value()), "8901");
}

TEST(TcpLink, BeginsWithBytesReceivedBefore) {
  TcpRig rig(4, Digits(6));
  ASSERT_EQ(rig.ends[1]->Write(AsView("xy")).value(), 2u);
  Bytes out(8);
  EXPECT_EQ(rig.ends[0]->Read(out).value(), 8u);
  EXPECT_EQ(AsText(out), "012345xy");
}

TEST(TcpLink, AFullSocketAcceptsNoByte) {
  TcpRig rig;
  const Bytes data(1 << 16);
  std::size_t written = 0;
  while (const std::size_t n = rig.ends[0]->Write(data).value()) written += n;
  EXPECT_EQ(rig.ends[0]->Write(data).value(), 0u);
  Bytes out(written);
  std::size_t read = 0;
  while (const std::size_t n = rig.ends[1]->Read(std::span(out).subspan(read)).value()) read += n;
  EXPECT_EQ(read, written);
  EXPECT_GT(rig.ends[0]->Write(data).value(), 0u);
}

TEST(TcpLink, ClosingWithUnreadBytesDoesNotResetTheConnection) {
  TcpRig rig(64);
  ASSERT_EQ(rig.ends[0]->Write(Digits(1000)).value(), 1000u);
  ASSERT_EQ(rig.ends[1]->Write(AsView("last words")).value(), 10u);
  rig.ends[1].reset();
  Bytes out(100);
  EXPECT_EQ(rig.ends[0]->Read(out).value(), 10u);
  EXPECT_THAT(rig.ends[0]->Read(out).error().message, HasSubstr("it closed the connection"));
}

// A process that was forked while the link was open holds such a copy.
TEST(TcpLink, ThePeerSeesItsEndDespiteACopyOfItsSocket) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
  const os::Fd copy(::dup(fds[0]));
  TcpLink peer({.peer = Rank{0}, .peer_name = "rank 0", .socket = os::Fd(fds[1])});
  {
    TcpLink link({.peer = Rank{1}, .peer_name = "rank 1", .socket = os::Fd(fds[0])});
    EXPECT_TRUE(peer.Peek()->empty());
  }
  EXPECT_THAT(peer.Peek().error().message, HasSubstr("it closed the connection"));
}

TEST(TcpLink, EnablesKeepaliveProbesWithinTheSilenceLimit) {
  const os::Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  TcpOptions options;
  options.silence_max = std::chrono::seconds(60);
  TuneSocket(socket.get(), options);
  const auto get = [&](int option) {
    int value = 0;
    socklen_t bytes = sizeof value;
    EXPECT_EQ(::getsockopt(socket.get(), IPPROTO_TCP, option, &value, &bytes), 0);
    return value;
  };
  EXPECT_NE(get(TCP_NODELAY), 0);
  EXPECT_EQ(get(TCP_KEEPIDLE), 30);
  EXPECT_EQ(get(TCP_KEEPINTVL), 10);
  EXPECT_EQ(get(TCP_KEEPCNT), 3);
  EXPECT_EQ(get(TCP_USER_TIMEOUT), 60'000);
}

TEST(TcpLink, PeekReportsTheLoss) {
  TcpRig rig;
  ASSERT_EQ(rig.ends[1]->Write(AsView("last words")).value(), 10u);
  rig.ends[1].reset();
  EXPECT_EQ(rig.ends[0]->Peek()->size(), 10u);
  rig.ends[0]->Consume(10);
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(rig.ends[0]->Peek().error().message, HasSubstr("it closed the connection"));
  Bytes out(1);
  EXPECT_EQ(rig.ends[0]->Read(out).error().code, Code::kPeerLost);
}

// A peer that dies with unread data resets the connection.
TEST(TcpLink, AResetIsALossWithAReason) {
  for (const bool looks : {false, true}) {
    std::array<int, 2> fds{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    TcpLink link({.peer = Rank{1}, .peer_name = "rank 1", .socket = os::Fd(fds[0])});
    os::Fd peer(fds[1]);
    ASSERT_EQ(link.Write(AsView("unread")).value(), 6u);
    peer.Close();
    Bytes out(1);
    for (int i = 0; i < 2; ++i) {
      const Error error = looks ? link.Peek().error() : link.Read(out).error();
      EXPECT_THAT(error.message, HasSubstr("ECONNRESET")) << "the same however often";
    }
  }
}

TEST(TcpLink, ReportsTheLossAfterTheData) {
  TcpRig rig;
  ASSERT_EQ(rig.ends[1]->Write(AsView("last words")).value(), 10u);
  rig.ends[1].reset();
  const auto refused = rig.ends[0]->Write(AsView("x"));
  EXPECT_EQ(refused.error().code, Code::kPeerLost);
  EXPECT_EQ(rig.ends[0]->Write(AsView("x")).error().message, refused.error().message);
  EXPECT_EQ(rig.ends[0]->Peek()->size(), 10u);
  Bytes out(100);
  EXPECT_EQ(rig.ends[0]->Read(out).value(), 10u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(rig.ends[0]->Read(out).error().message,
                HasSubstr("the link to rank 1 on here (tcp) broke"));
    EXPECT_EQ(rig.ends[0]->Peek().error().code, Code::kPeerLost);
    EXPECT_EQ(rig.ends[0]->Write(AsView("x")).error().code, Code::kPeerLost);
  }
}

}  // namespace
}  // namespace ringlet::transport
