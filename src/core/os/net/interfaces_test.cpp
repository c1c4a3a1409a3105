#include "os/net/interfaces.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace ringlet::os {
namespace {

TEST(InterfacesTest, EachNameOccursOnceAndAddressesHaveAPrefix) {
  const std::vector<Interface> interfaces = ListInterfaces().value();
  std::set<std::string> names;
  for (const Interface& each : interfaces) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    for (const InterfaceAddress& own : each.addresses) {
      EXPECT_EQ(own.address.port, 0);
      const bool ipv4 = own.address.kind == Address::Kind::kIpv4;
      EXPECT_TRUE(ipv4 || own.address.kind == Address::Kind::kIpv6);
      EXPECT_GT(own.prefix_bits, 0u) << ToString(own.address);
      EXPECT_LE(own.prefix_bits, ipv4 ? 32u : 128u);
    }
  }
  EXPECT_FALSE(names.empty());
}

TEST(InterfacesTest, LoopbackHasItsWholeNetwork) {
  const Address loopback = Address::Ipv4(127, 0, 0, 1, 0);
  const std::vector<Interface> interfaces = ListInterfaces().value();
  int found = 0;
  for (const Interface& each : interfaces)
    for (const InterfaceAddress& own : each.addresses) {
      if (own.address != loopback) continue;
      EXPECT_EQ(own.prefix_bits, 8u) << each.name;
      EXPECT_TRUE(each.running) << each.name;
      ++found;
    }
  EXPECT_EQ(found, 1);
}

std::vector<Interface> ByName(std::vector<Interface> interfaces) {
  std::erase_if(interfaces, [](const Interface& each) { return each.addresses.empty(); });
  std::ranges::sort(interfaces, {}, &Interface::name);
  return interfaces;
}

TEST(InterfacesTest, InterfacesWithAnAddressMatchGetifaddrs) {
  const auto found = ListInterfacesWithAddress();
  EXPECT_FALSE(found.empty());
  EXPECT_TRUE(ByName(found) == ByName(ListInterfaces().value()));
}

}  // namespace
}  // namespace ringlet::os
