#include "os/net/beacon.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/net/poll.hpp"

namespace ringlet::os {
namespace {

Listener ListenHere() {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  EXPECT_TRUE(listener.ok());
  return std::move(*listener);
}

bool EndsSoon(Sight& sight) {
  for (int look = 0; look < 10'000; ++look) {
    if (sight.IsGone()) return true;
    PollReadable({}, std::chrono::milliseconds(1));
  }
  return false;
}

TEST(Beacon, IsSeenAsLongAsItListens) {
  Listener beacon = ListenHere();
  Sight first = Sight::Of(beacon.address), second = Sight::Of(beacon.address);
  EXPECT_FALSE(first.IsGone());
  EXPECT_FALSE(second.IsGone());
  while (!first.IsAnswered()) PollReadable({}, std::chrono::milliseconds(1));
  beacon.fd.Close();
  EXPECT_TRUE(EndsSoon(first));
  EXPECT_TRUE(EndsSoon(second));
  EXPECT_TRUE(first.IsGone()) << "and again";
  EXPECT_TRUE(first.IsAnswered());
  Sight late = Sight::Of(beacon.address);
  EXPECT_TRUE(EndsSoon(late));
}

TEST(Beacon, AKilledProcessIsSeenToBeGoneBeforeItIsReaped) {
  Listener beacon = ListenHere();
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const Address address = beacon.address;
  beacon.fd.Close();  // the child's copy is left
  Sight sight = Sight::Of(address);
  EXPECT_FALSE(sight.IsGone());
  ::kill(child, SIGKILL);
  EXPECT_TRUE(EndsSoon(sight));
  ::waitpid(child, nullptr, 0);
}

TEST(Beacon, AnUnreachableBeaconIsNotGone) {
  Address nowhere;  // of no family
  Sight sight = Sight::Of(nowhere);
  EXPECT_FALSE(sight.IsGone());
}

}  // namespace
}  // namespace ringlet::os
