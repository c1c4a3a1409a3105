#include "os/net/sockaddr.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace ringlet::os {
namespace {

TEST(SocketAddress, RoundTrips) {
  for (const std::string_view text :
       {"10.0.0.5:1234", "[fe80::1%2]:1234", "[2001:db8::1]:65535", "unix:@ringlet", "unix:@"}) {
    const Address address = *ParseAddress(text);
    EXPECT_EQ(FromSocketAddress(ToSocketAddress(address)), address) << text;
  }
  const Address longest = Address::Unix(std::string(kUnixPathBytesMax, 'x'));
  EXPECT_EQ(FromSocketAddress(ToSocketAddress(longest)), longest);
}

TEST(SocketAddress, MatchesInetPton) {
  const SocketAddress four = ToSocketAddress(Address::Ipv4(10, 1, 2, 3, 4711));
  sockaddr_in in{};
  std::memcpy(&in, &four.storage, sizeof in);
  EXPECT_EQ(four.bytes, sizeof(sockaddr_in));
  EXPECT_EQ(in.sin_family, AF_INET);
  EXPECT_EQ(ntohs(in.sin_port), 4711);
  in_addr expected{};
  ASSERT_EQ(::inet_pton(AF_INET, "10.1.2.3", &expected), 1);
  EXPECT_EQ(in.sin_addr.s_addr, expected.s_addr);

  const SocketAddress six = ToSocketAddress(*ParseAddress("[fe80::1%3]:80"));
  sockaddr_in6 in6{};
  std::memcpy(&in6, &six.storage, sizeof in6);
  EXPECT_EQ(six.bytes, sizeof(sockaddr_in6));
  EXPECT_EQ(in6.sin6_scope_id, 3u);
  in6_addr expected6{};
  ASSERT_EQ(::inet_pton(AF_INET6, "fe80::1", &expected6), 1);
  EXPECT_EQ(std::memcmp(&in6.sin6_addr, &expected6, sizeof expected6), 0);
}

TEST(SocketAddress, AnAbstractNameLacksATrailingNul) {
  const SocketAddress address = ToSocketAddress(Address::Unix("abc"));
  EXPECT_EQ(address.bytes, offsetof(sockaddr_un, sun_path) + 4);
  sockaddr_un un{};
  std::memcpy(&un, &address.storage, sizeof un);
  EXPECT_EQ(un.sun_path[0], '\0');
  EXPECT_EQ(std::string(un.sun_path + 1, 3), "abc");
}

TEST(SocketAddress, AcceptsUnnamedAndForeignAddresses) {
  SocketAddress unnamed;
  unnamed.storage.ss_family = AF_UNIX;
  unnamed.bytes = sizeof(sa_family_t);
  EXPECT_EQ(FromSocketAddress(unnamed), Address::Unix(""));
  SocketAddress foreign;
  foreign.storage.ss_family = AF_NETLINK;
  foreign.bytes = sizeof foreign.storage;
  EXPECT_EQ(FromSocketAddress(foreign).kind, Address::Kind::kNone);
}

}  // namespace
}  // namespace ringlet::os
