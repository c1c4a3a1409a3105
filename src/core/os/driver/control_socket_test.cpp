#include "os/driver/control_socket.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "os/driver/parts_for_test.hpp"
#include "os/net/listener.hpp"

namespace ringlet::os {
namespace {

using AcceptedSocket = ConversationTest;

INSTANTIATE_TEST_SUITE_P(Over, AcceptedSocket, testing::Bool(),
                         [](const auto& over) { return over.param ? "unix" : "tcp"; });

TEST_P(AcceptedSocket, IsTunedForControl) {
  Introduce();
  const auto option = [](int fd, int level, int name) {
    int value = 0;
    socklen_t bytes = sizeof value;
    EXPECT_EQ(::getsockopt(fd, level, name, &value, &bytes), 0);
    return value;
  };
  host->Perform(Detach{line});
  driver->RequestTick(host_id);
  Await("the socket", [&] { return detached.contains(line); });
  if (over_unix()) return;  // a UNIX socket does not have these options
  const int fd = detached[line].get();
  EXPECT_NE(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_NE(option(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 10);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
}

TEST(OutgoingCall, ConnectsAtOnceToAListenerOfThisHost) {
  for (const Address& at : {Address::Ipv4(127, 0, 0, 1, 0),
                            Address::Unix(fmt::format("ringlet call {}", ::getpid()))}) {
    const auto listener = Listen(at);
    ASSERT_TRUE(listener.ok());
    DriverTally tally;
    const OutgoingCall call = CallAddress(listener->address, tally);
    EXPECT_EQ(call.error, 0);
    EXPECT_FALSE(call.connecting);
    EXPECT_TRUE(call.socket.valid());
    EXPECT_EQ(tally.counters.lines_dialled, 1u);
  }
}

TEST(OutgoingCall, ReportsTheErrorOfAnAddressWithoutAListener) {
  DriverTally tally;
  const OutgoingCall call = CallAddress(Address::Unix("ringlet no listener"), tally);
  EXPECT_EQ(call.error, ECONNREFUSED);
  EXPECT_FALSE(call.connecting);
  EXPECT_EQ(tally.counters.lines_dialled, 1u);
  EXPECT_EQ(tally.shortages, 0u);
}

TEST(OutgoingCall, CountsAShortageWithoutADescriptor) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  DriverTally tally;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const OutgoingCall call = CallAddress(Address::Ipv4(127, 0, 0, 1, 1), tally);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(IsShortage(call.error));
  EXPECT_EQ(tally.shortages, 1u);
  EXPECT_EQ(tally.counters.lines_dialled, 0u);
}

TEST(UnixSocketPeer, IsIdentifiedByItsProcessAndUser) {
  const auto [here, there] = SocketPair();
  EXPECT_EQ(PidOf(here.get()), static_cast<std::uint32_t>(::getpid()));
  EXPECT_TRUE(IsOwnUser(here.get()));
  EXPECT_EQ(PidOf(-1), 0u);
  EXPECT_FALSE(IsOwnUser(-1));
}

}  // namespace
}  // namespace ringlet::os
