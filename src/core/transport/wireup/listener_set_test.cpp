#include "transport/wireup/listener_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "os/process/host.hpp"

namespace ringlet::transport {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Secret Seed(int n) {
  Secret seed{};
  seed[0] = static_cast<std::byte>(n);
  seed[1] = static_cast<std::byte>(::getpid());
  seed[2] = static_cast<std::byte>(::getpid() >> 8);
  return seed;
}

TEST(ListenerSet, ASingleInterfaceIsBoundDirectly) {
  const auto endpoint =
      ListenerSet::Open({.interfaces = {Address::Ipv4(127, 0, 0, 1, 0)}, .seed = Seed(1)});
  ASSERT_TRUE(endpoint.ok());
  ASSERT_THAT(endpoint->tcp, SizeIs(1));
  EXPECT_NE(endpoint->tcp[0].port, 0);
  EXPECT_EQ(endpoint->tcp[0], endpoint->listeners[0].address);
  EXPECT_THAT(endpoint->unix_socket.path, HasSubstr("ringlet-"));
}

TEST(ListenerSet, HasTheNetworkNamespaceOfTheProcess) {
  const auto endpoint = ListenerSet::Open({.interfaces = {}, .seed = Seed(5)});
  ASSERT_TRUE(endpoint.ok());
  const os::FileTree live = os::FileTree::Open("/").value();
  EXPECT_EQ(endpoint->net_namespace.value_or(os::NetNamespace(live)), os::NetNamespace(live));
}

TEST(ListenerSet, SeveralInterfacesShareOneListener) {
  const auto endpoint = ListenerSet::Open(
      {.interfaces = {Address::Ipv4(127, 0, 0, 1, 0), Address::Ipv4(127, 0, 0, 2, 0)},
       .preferred = 1,
       .seed = Seed(2),
       .unix_listener = false});
  ASSERT_TRUE(endpoint.ok());
  EXPECT_THAT(endpoint->listeners, SizeIs(1));
  ASSERT_THAT(endpoint->tcp, SizeIs(2));
  EXPECT_EQ(endpoint->tcp[0].port, endpoint->tcp[1].port);
  EXPECT_EQ(endpoint->preferred, 1u);
  EXPECT_EQ(endpoint->unix_socket.kind, Address::Kind::kNone);
}

TEST(ListenerSet, PreferredAddressesAreOfTheFirstFamily) {
  const auto endpoint =
      ListenerSet::Open({.interfaces = {*ParseAddress("[::1]:0"), Address::Ipv4(127, 0, 0, 1, 0),
                                        Address::Ipv4(127, 0, 0, 2, 0)},
                         .preferred = 2,
                         .unix_listener = false});
  ASSERT_TRUE(endpoint.ok());
  EXPECT_EQ(endpoint->tcp[0].kind, Address::Kind::kIpv4);
  EXPECT_EQ(endpoint->preferred, 1u);
}

TEST(ListenerSet, SeedsGiveDifferentSocketNames) {
  const auto a = ListenerSet::Open({.interfaces = {}, .seed = Seed(3)});
  const auto b = ListenerSet::Open({.interfaces = {}, .seed = Seed(4)});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->unix_socket.path, b->unix_socket.path);
}

TEST(ListenerSet, AForeignAddressIsAnError) {
  const auto endpoint = ListenerSet::Open(
      {.interfaces = {Address::Ipv4(192, 0, 2, 1, 0)}, .seed = {}, .unix_listener = false});
  ASSERT_FALSE(endpoint.ok());
  EXPECT_THAT(endpoint.error().message, HasSubstr("192.0.2.1"));
}

}  // namespace
}  // namespace ringlet::transport
