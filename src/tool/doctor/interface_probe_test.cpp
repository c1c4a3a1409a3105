#include "tool/doctor/interface_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringlet::cli {
namespace {

std::vector<doctor::InterfaceReport> Probe(const EnvMap& environment) {
  const auto files = os::FileTree::Open("/");
  EXPECT_TRUE(files.ok());
  return ProbeInterfaces(*files, environment);
}

TEST(InterfaceProbe, ANamedLoopbackHasTheFirstPlace) {
  const EnvMap named = {{"RINGLET_SOCKET_IFNAME", "=lo"}};
  const auto reports = Probe(named);
  const auto lo = std::ranges::find(reports, "lo", &doctor::InterfaceReport::name);
  ASSERT_NE(lo, reports.end());
  EXPECT_EQ(lo->place, 0u);
  EXPECT_EQ(lo->why, "named by RINGLET_SOCKET_IFNAME");
  EXPECT_FALSE(lo->hardware);
  EXPECT_GT(lo->mtu_bytes, 0u);
  for (const doctor::InterfaceReport& report : reports) EXPECT_FALSE(report.why.empty());
  ASSERT_FALSE(AdvertisedAddresses(named).empty());
  EXPECT_TRUE(AdvertisedAddresses(named).front().IsLoopback());
}

TEST(InterfaceProbe, EachPlaceBelongsToOneInterface) {
  std::uint32_t used = 0;
  const auto reports = Probe({});
  for (const doctor::InterfaceReport& report : reports) used += report.place ? 1u : 0u;
  for (std::uint32_t place = 0; place < used; ++place)
    EXPECT_EQ(std::ranges::count(reports, std::optional(place), &doctor::InterfaceReport::place),
              1);
}

TEST(InterfaceProbe, PrintsAddressesWithoutPorts) {
  EXPECT_EQ(AddressText(Address::Ipv4(10, 0, 0, 5, 77)), "10.0.0.5");
  EXPECT_EQ(AddressText(*ParseAddress("[fd00::1]:77")), "fd00::1");
}

}  // namespace
}  // namespace ringlet::cli
