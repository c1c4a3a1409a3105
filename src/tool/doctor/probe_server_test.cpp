#include "tool/doctor/probe_server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <vector>

#include "os/net/sockaddr.hpp"

namespace ringlet::cli {
namespace {

Secret Token() {
  Secret token{};
  token[3] = std::byte{9};
  return token;
}

std::unique_ptr<ProbeServer> StartOne() {
  auto server = ProbeServer::Start({Address::Ipv4(127, 0, 0, 1, 0)}, Token());
  EXPECT_TRUE(server.ok());
  return *std::move(server);
}

os::Fd Call(const ProbeServer& server, int type = SOCK_STREAM) {
  const os::SocketAddress to = os::ToSocketAddress(server.endpoints().front());
  os::Fd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const timeval wait{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  EXPECT_EQ(::connect(fd.get(), to.get(), to.bytes), 0);
  return fd;
}

std::string Head(const Secret& token, char kind) {
  std::string head(reinterpret_cast<const char*>(token.data()), token.size());
  return head + kind;
}

void Say(const os::Fd& fd, const std::string& text) {
  EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

TEST(ProbeServer, EchoesWholeMessages) {
  const auto server = StartOne();
  const os::Fd fd = Call(*server);
  Say(fd, Head(Token(), 'e') + "abcd");
  Say(fd, "efgh");
  std::array<char, 16> echo{};
  EXPECT_EQ(::recv(fd.get(), echo.data(), kEchoBytes, MSG_WAITALL), 8);
  EXPECT_STREQ(echo.data(), "abcdefgh");
}

TEST(ProbeServer, HangsUpOnStrangers) {
  const auto server = StartOne();
  for (const std::string& head : {Head(Secret{}, 'e'), Head(Token(), 'x')}) {
    const os::Fd fd = Call(*server);
    Say(fd, head + "abcdefgh");
    char byte = 0;
    EXPECT_LE(::recv(fd.get(), &byte, 1, 0), 0);
  }
}

/// Opens more connections than the server keeps, so it closes the oldest.
TEST(ProbeServer, SilentStrangersDisplaceOnlyStrangers) {
  const auto server = StartOne();
  const os::Fd known = Call(*server);
  std::array<char, kEchoBytes> echo{};
  const auto is_answered = [&](const std::string& text) {
    Say(known, text);
    return ::recv(known.get(), echo.data(), echo.size(), MSG_WAITALL) ==
           static_cast<ssize_t>(echo.size());
  };
  ASSERT_TRUE(is_answered(Head(Token(), 'e') + "abcdefgh"));
  std::vector<os::Fd> strangers;
  for (int i = 0; i < 260; ++i) strangers.push_back(Call(*server));
  char byte = 0;
  EXPECT_EQ(::recv(strangers.front().get(), &byte, 1, 0), 0);
  EXPECT_TRUE(is_answered("ijklmnop"));
}

TEST(ProbeServer, ReportsTheNumberOfReceivedBytes) {
  const auto server = StartOne();
  const os::Fd fd = Call(*server);
  Say(fd, Head(Token(), 'c') + "x");
  Say(fd, std::string(100'000, 'x'));
  ProbeCount count;
  ASSERT_EQ(::recv(fd.get(), &count, sizeof count, MSG_WAITALL),
            static_cast<ssize_t>(sizeof count));
  EXPECT_GE(count.ns, 150'000'000u);
  EXPECT_LE(count.bytes, 100'000u);
}

TEST(ProbeServer, AcknowledgesOnlyDatagramsWithItsToken) {
  const auto server = StartOne();
  const os::Fd fd = Call(*server, SOCK_DGRAM);
  Say(fd, std::string(1000, 'x'));  // without the token: not answered
  std::string datagram = Head(Token(), 'x');
  datagram.resize(500);
  Say(fd, datagram);
  std::array<char, 64> answer{};
  ASSERT_EQ(::recv(fd.get(), answer.data(), answer.size(), 0), 16);
  std::uint64_t length = 0;
  std::memcpy(&length, answer.data() + kMarkBytes, sizeof length);
  EXPECT_EQ(length, 500u);
}

TEST(ProbeServer, NeedsAnAddressOfThisHost) {
  EXPECT_FALSE(ProbeServer::Start({}, Token()).ok());
  EXPECT_FALSE(ProbeServer::Start({Address::Ipv4(192, 0, 2, 77, 0)}, Token()).ok());
  const auto one = ProbeServer::Start(
      {Address::Ipv4(192, 0, 2, 77, 0), Address::Ipv4(127, 0, 0, 1, 0)}, Token());
  ASSERT_TRUE(one.ok());
  EXPECT_EQ((*one)->endpoints().size(), 1u);
}

}  // namespace
}  // namespace ringlet::cli
