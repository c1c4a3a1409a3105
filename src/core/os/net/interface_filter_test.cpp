#include "os/net/interface_filter.hpp"

#include <gmock/gmock.h>

namespace ringlet::os {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Address At(std::string_view text) {
  return ParseAddress(text).value();
}

Interface Make(std::string name, std::vector<InterfaceAddress> addresses, bool running = true) {
  return {std::move(name), running, std::move(addresses)};
}

/// A host with interfaces of all kinds, in a possible order of the kernel.
std::vector<Interface> InterfacesHere() {
  return {Make("lo", {{At("127.0.0.1:0"), 8}, {At("[::1]:0"), 128}}),
          Make("docker0", {{At("172.17.0.1:0"), 16}}),
          Make("eth0",
               {{At("[fe80::1%2]:0"), 64}, {At("[2001:db8::1]:0"), 64}, {At("10.0.0.5:0"), 24}}),
          Make("eth1", {{At("10.0.1.5:0"), 24}}),
          Make("eth2", {{At("10.0.2.5:0"), 24}}, false),
          Make("virbr0", {{At("192.168.122.1:0"), 24}}),
          Make("ib0", {{At("10.1.0.5:0"), 16}})};
}

std::vector<std::string> Choose(const InterfaceFilter& filter) {
  const auto usable = UsableAddresses(InterfacesHere(), filter);
  if (!usable.ok()) return {usable.error().message};
  std::vector<std::string> text;
  for (const UsableAddress& each : *usable)
    text.push_back(each.interface + " " + ToString(each.address));
  return text;
}

TEST(InterfaceFilterTest, WithoutARuleFabricIsFirstAndHostLocalIsLast) {
  EXPECT_THAT(Choose({}),
              ElementsAre("ib0 10.1.0.5:0", "eth0 10.0.0.5:0", "eth0 [2001:db8::1]:0",
                          "eth0 [fe80::1%2]:0", "eth1 10.0.1.5:0", "docker0 172.17.0.1:0",
                          "lo 127.0.0.1:0", "virbr0 192.168.122.1:0"));
}

TEST(InterfaceFilterTest, HostLocalAddressesAreMarked) {
  const std::vector<UsableAddress> usable = UsableAddresses(InterfacesHere(), {}).value();
  for (const UsableAddress& each : usable) {
    const bool local =
        each.interface == "docker0" || each.interface == "lo" || each.interface == "virbr0";
    EXPECT_EQ(each.host_local(), local) << each.interface;
  }
}

TEST(InterfaceFilterTest, TheSubnetOfTheRootIsFirst) {
  EXPECT_EQ(Choose({.root = At("10.0.1.77:5000")}).front(), "eth1 10.0.1.5:0");
  EXPECT_EQ(Choose({.root = At("10.1.200.1:5000")}).front(), "ib0 10.1.0.5:0");
  EXPECT_EQ(Choose({.root = At("[2001:db8::99]:1")}).front(), "eth0 10.0.0.5:0");
  EXPECT_EQ(Choose({.root = At("8.8.8.8:5000")}).front(), "ib0 10.1.0.5:0");
  EXPECT_EQ(Choose({.root = At("[fe80::9%3]:1")}).front(), "ib0 10.1.0.5:0");
}

TEST(InterfaceFilterTest, APrefixMayEndWithinAByte) {
  const std::vector<Interface> host = {Make("eth0", {{At("10.0.0.5:0"), 24}}),
                                       Make("eth1", {{At("10.2.16.5:0"), 20}})};
  const auto first = [&](std::string_view root) {
    return UsableAddresses(host, {.root = At(root)}).value().front().interface;
  };
  EXPECT_EQ(first("10.2.31.1:1"), "eth1");
  EXPECT_EQ(first("10.2.24.1:1"), "eth1");
  EXPECT_EQ(first("10.2.32.1:1"), "eth0");
  EXPECT_EQ(first("10.2.0.1:1"), "eth0");
}

TEST(InterfaceFilterTest, APrefixLongerThanAnAddressMatchesNoSubnet) {
  for (const std::uint32_t bits : {0u, 33u, 200u}) {
    const std::vector<Interface> host = {Make("eth0", {{At("10.0.0.5:0"), 24}}),
                                         Make("eth1", {{At("10.2.16.5:0"), bits}})};
    const auto usable = UsableAddresses(host, {.root = At("10.2.16.5:1")}).value();
    EXPECT_EQ(usable.front().interface, "eth0") << bits;
  }
}

TEST(InterfaceFilterTest, NamesArePrefixesUnlessExact) {
  EXPECT_THAT(Choose({.names = "eth", .family = SocketFamily::kIpv4}),
              ElementsAre("eth0 10.0.0.5:0", "eth1 10.0.1.5:0"));
  EXPECT_THAT(Choose({.names = "=eth1,lo"}), ElementsAre("lo 127.0.0.1:0", "eth1 10.0.1.5:0"));
  EXPECT_THAT(Choose({.names = "=eth"}), ElementsAre(HasSubstr("SOCKET_IFNAME=\"=eth\"")));
}

TEST(InterfaceFilterTest, NamesCanBeExcluded) {
  EXPECT_THAT(Choose({.names = "^eth,docker,virbr"}),
              ElementsAre("lo 127.0.0.1:0", "ib0 10.1.0.5:0"));
  EXPECT_THAT(Choose({.names = "^=eth0,lo,docker0,virbr0"}),
              ElementsAre("eth1 10.0.1.5:0", "ib0 10.1.0.5:0"));
}

TEST(InterfaceFilterTest, OnlyTheSelectedFamilyIsKept) {
  EXPECT_THAT(Choose({.family = SocketFamily::kIpv6}),
              ElementsAre("eth0 [2001:db8::1]:0", "eth0 [fe80::1%2]:0"));
}

TEST(InterfaceFilterTest, TheErrorListsAllInterfacesIfNoneMatches) {
  const auto none = UsableAddresses(InterfacesHere(), {.names = "eth2"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kInvalidArgument);
  EXPECT_THAT(none.error().message, AllOf(HasSubstr("eth2 (not running)"), HasSubstr("ib0")));
  EXPECT_THAT(UsableAddresses({}, {}).error().message, HasSubstr("this host has none"));
}

TEST(InterfaceFilterTest, AMalformedListIsRefused) {
  for (const char* names : {"^", "=", "^=", "eth0,", ",", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"})
    EXPECT_THAT(Choose({.names = names}), ElementsAre(HasSubstr("comma list"))) << names;
}

TEST(NameRuleTest, AllowsAndSelectsNames) {
  const NameRule all = NameRule::Parse("").value();
  EXPECT_TRUE(all.Allows("x"));
  EXPECT_FALSE(all.picks());
  const NameRule some = NameRule::Parse("eth,=ib0").value();
  EXPECT_TRUE(some.picks());
  EXPECT_TRUE(some.Allows("eth7"));
  EXPECT_FALSE(some.Allows("ib0"));
  const NameRule not_these = NameRule::Parse("^=eth0").value();
  EXPECT_FALSE(not_these.picks());
  EXPECT_TRUE(not_these.Allows("eth00"));
  EXPECT_FALSE(not_these.Allows("eth0"));
  EXPECT_FALSE(NameRule::Parse("^").ok());
}

}  // namespace
}  // namespace ringlet::os
