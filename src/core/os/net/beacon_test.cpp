#include "os/net/beacon.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/net/poll.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::os {
namespace {

Listener ListenHere() {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  EXPECT_TRUE(listener.ok());
  return std::move(*listener);
}

bool EndsSoon(BeaconProbe& beacon_probe) {
  for (int look = 0; look < 10'000; ++look) {
    if (beacon_probe.IsGone()) return true;
    PollReadable({}, std::chrono::milliseconds(1));
  }
  return false;
}

TEST(Beacon, IsVisibleWhileItListens) {
  Listener beacon = ListenHere();
  BeaconProbe first = BeaconProbe::Of(beacon.address), second = BeaconProbe::Of(beacon.address);
  EXPECT_FALSE(first.IsGone());
  EXPECT_FALSE(second.IsGone());
  while (!first.IsAnswered()) PollReadable({}, std::chrono::milliseconds(1));
  beacon.fd.Close();
  EXPECT_TRUE(EndsSoon(first));
  EXPECT_TRUE(EndsSoon(second));
  EXPECT_TRUE(first.IsGone()) << "and again";
  EXPECT_TRUE(first.IsAnswered());
  BeaconProbe late = BeaconProbe::Of(beacon.address);
  EXPECT_TRUE(EndsSoon(late));
}

TEST(Beacon, AKilledProcessIsDetectedBeforeItIsReaped) {
  Listener beacon = ListenHere();
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const Address address = beacon.address;
  beacon.fd.Close();  // the child's copy remains
  BeaconProbe beacon_probe = BeaconProbe::Of(address);
  EXPECT_FALSE(beacon_probe.IsGone());
  ::kill(child, SIGKILL);
  EXPECT_TRUE(EndsSoon(beacon_probe));
  ::waitpid(child, nullptr, 0);
}

TEST(Beacon, AnUnreachableBeaconIsNotReportedAsEnded) {
  Address nowhere;  // without a family
  BeaconProbe beacon_probe = BeaconProbe::Of(nowhere);
  EXPECT_FALSE(beacon_probe.IsGone());
}

TEST(HasConnectionTo, IsTrueUntilTheOtherSideCloses) {
  Listener server = ListenHere();
  const std::uint16_t port = server.address.port;
  EXPECT_FALSE(HasConnectionTo(port));
  const Fd client(::socket(AF_INET, SOCK_STREAM, 0));
  const SocketAddress to = ToSocketAddress(server.address);
  ASSERT_EQ(::connect(client.get(), to.get(), to.bytes), 0);
  Fd accepted(::accept(server.fd.get(), nullptr, nullptr));
  EXPECT_TRUE(HasConnectionTo(port));
  accepted.Close();
  for (int look = 0; look < 10'000 && HasConnectionTo(port); ++look)
    PollReadable({}, std::chrono::milliseconds(1));
  EXPECT_FALSE(HasConnectionTo(port));
}

}  // namespace
}  // namespace ringlet::os
