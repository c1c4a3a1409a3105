#include "plan/routes/route_table.hpp"

#include <gtest/gtest.h>

#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

constexpr EndIndex kFirst{End::kDevice, 0};
constexpr EndIndex kSecond{End::kDevice, 1};

TEST(RouteTableTest, ARouteHasTheLinksOfThePath) {
  const MachineForTest machine("(switch: 2 gpu, 1 nic)");
  RouteTable table(machine.paths());
  EXPECT_EQ(table.device_count(), 2u);
  EXPECT_EQ(table.net_count(), 1u);
  const Route route = table.Find(kFirst, kSecond);
  EXPECT_EQ(route.hops, 4u);
  EXPECT_EQ(route.count, 4u);
  EXPECT_EQ(route.type, topology::PathType::kPix);
  const RouteStep& up = table.Steps(route)[1];
  EXPECT_EQ(up.link, table.PciOf(0)->from);
  EXPECT_EQ(up.back, table.PciOf(0)->to);
  EXPECT_NE(table.LinkText(up.link).find("(PCI)"), std::string::npos);
}

/// The second GPU sends to the NIC through the first GPU, next to both, and receives directly.
TEST(RouteTableTest, TheReverseRouteHasItsOwnType) {
  const MachineForTest machine(
      "(numa: (switch: 1 gpu a100-sxm4 switch, 1 nic), (switch: 1 gpu a100-sxm4 switch))");
  RouteTable table(machine.paths());
  const EndIndex net{End::kNet, 0};
  const Route out = table.Find(kSecond, net), in = table.Find(net, kSecond);
  ASSERT_NE(out.type, in.type);
  EXPECT_EQ(out.back_type, in.type);
  EXPECT_EQ(in.back_type, out.type);
}

TEST(RouteTableTest, RoutesThroughIntelProcessorsHaveSmallPackets) {
  const MachineForTest machine("(numa: (switch: 1 gpu), (switch: 1 gpu))");
  RouteTable table(machine.paths());
  const Route route = table.Find(kFirst, kSecond);
  ASSERT_EQ(route.type, topology::PathType::kPhb);
  Residual residual(table);
  const std::int64_t pci = table.bandwidths()[table.PciOf(0)->from];
  EXPECT_TRUE(residual.Take(route, pci));
  EXPECT_FALSE(residual.Take(route, pci / 6 * 5));
  EXPECT_EQ(residual.left(table.PciOf(0)->from), 0);
}

TEST(ResidualTest, ChargesFollowTheBandwidth) {
  const MachineForTest machine("(numa: (switch: 1 gpu), (switch: 1 gpu))");
  RouteTable table(machine.paths());
  const Route route = table.Find(kFirst, kSecond);
  Residual residual(table);
  const std::uint32_t link = table.PciOf(0)->from;
  const std::int64_t all = residual.left(link);
  EXPECT_FALSE(residual.Take(route, 5'000));
  EXPECT_FALSE(residual.Take(route, 2'500));
  EXPECT_EQ(all - residual.left(link), 9'000) << "6/5 of each";
  residual.ReleaseBandwidth(route, 5'000);
  EXPECT_EQ(all - residual.left(link), 3'000);
  residual.ReleaseBandwidth(route, 2'500);
  EXPECT_EQ(residual.left(link), all);
  EXPECT_FALSE(residual.HasRoom(route, all));
  EXPECT_EQ(residual.FullOf(route, all), link);
}

TEST(ResidualTest, ARefusedRouteTakesNoBandwidth) {
  const MachineForTest machine("(switch: 2 gpu)");
  RouteTable table(machine.paths());
  const Route forth = table.Find(kFirst, kSecond);
  Residual residual(table);
  EXPECT_FALSE(residual.Take(forth, 20'000));
  const std::int64_t left = residual.left(table.PciOf(0)->from);
  const auto full = residual.Take(forth, 20'000);
  ASSERT_TRUE(full);
  EXPECT_EQ(*full, table.PciOf(0)->from);
  EXPECT_EQ(residual.left(table.PciOf(0)->from), left);
  EXPECT_FALSE(residual.Take(table.Find(kSecond, kFirst), 20'000)) << "the other way is free";
  residual.ReleaseBandwidth(forth, 20'000);
  EXPECT_FALSE(residual.Take(table.Find(kFirst, kSecond), 24'000));
}

}  // namespace
}  // namespace ringlet::plan
