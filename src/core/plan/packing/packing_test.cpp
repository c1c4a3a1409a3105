#include "plan/packing/packing.hpp"

#include <gtest/gtest.h>

#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

struct Packed {
  Packed(std::string_view words, bool multi_node)
      : Packed(topology::ParseSynthetic(words).value(), multi_node) {}
  Packed(const topology::HostView& view, bool multi_node)
      : machine(view),
        table(machine.paths()),
        nets(table, options),
        packings(table, nets, multi_node) {}

  SearchOptions options;
  MachineForTest machine;
  RouteTable table;
  NicSelector nets;
  Packings packings;
};

TEST(PackingTest, ARingOfASingleSwitchHasTheBandwidthOfItsLinks) {
  Packed one("(switch: 4 gpu)", false);
  Packing& packing = one.packings.Of(Pattern::kRing, CrossNic::kSame, 48'000);
  packing.Solve(0);
  EXPECT_EQ(packing.bound(), 24'000);
  const Packing::Divided& divided = packing.Divide(3, 1, 24'000, Effort::kSome);
  EXPECT_EQ(divided.channels.size(), 3u);
  EXPECT_EQ(divided.mb_per_s, 8'000);
}

TEST(PackingTest, SharesOfNicsFollowTheirBandwidth) {
  Packed one("(switch: 2 gpu, 1 nic 100g), (switch: 2 gpu, 1 nic 200g)", true);
  Packing& packing = one.packings.Of(Pattern::kRing, CrossNic::kSame, 48'000);
  packing.Solve(0);
  for (const std::uint32_t channels : {2u, 3u, 7u}) {
    const Packing::Divided& divided = packing.Divide(channels, 1, 48'000, Effort::kSome);
    EXPECT_EQ(divided.channels.size(), channels);
    EXPECT_GT(divided.mb_per_s, 0);
    EXPECT_LE(divided.mb_per_s * channels, packing.bound());
    for (const LocalChannel& channel : divided.channels) EXPECT_EQ(channel.entry, channel.exit);
  }
}

TEST(PackingTest, SolvingStopsOnceTheBoundIsLowEnough) {
  Packed one("(switch: 4 gpu)", false);
  Packing& packing = one.packings.Of(Pattern::kRing, CrossNic::kSame, 48'000);
  packing.Solve(0);
  EXPECT_EQ(packing.Solve(24'000), 0u);
  EXPECT_EQ(one.packings.BoundOf(GraphId::kRing, 0, 30'000), 24'000);
  EXPECT_EQ(one.packings.BoundOf(GraphId::kRing, 0, 20'000), 20'000) << "what is known is kept";
}

TEST(PackingTest, DivideYieldsNoChannelsBelowTheLeastBandwidth) {
  Packed one("(switch: 4 gpu)", false);
  Packing& packing = one.packings.Of(Pattern::kRing, CrossNic::kSame, 48'000);
  packing.Solve(0);
  EXPECT_EQ(packing.Divide(2, 12'001, 24'000, Effort::kSome).mb_per_s, 0);
  EXPECT_EQ(packing.Divide(2, 11'000, 24'000, Effort::kSome).mb_per_s, 12'000);
}

/// Each interface has its own links, as wide as the port.
TEST(PackingTest, InterfacesOfASinglePortShareIt) {
  topology::HostView view =
      topology::ParseSynthetic("(switch: 2 gpu, 1 nic 100g), (switch: 2 gpu, 1 nic 100g)").value();
  for (const bool shared : {false, true}) {
    for (topology::NetInterface& net : view.nets) {
      net.port = 1;
      if (shared) net.guid = 7;
    }
    Packed one(view, true);
    ASSERT_EQ(one.nets.port_count(), shared ? 1u : 2u);
    Packing& packing = one.packings.Of(Pattern::kRing, CrossNic::kAny, 24'000);
    packing.Solve(0);
    const Packing::Divided& divided = packing.Divide(2, 1, 24'000, Effort::kSome);
    ASSERT_EQ(divided.channels.size(), 2u);
    const std::int64_t all = packing.bound(), each = divided.mb_per_s;
    EXPECT_TRUE(shared ? all == 12'500 && each == 6'250 : all > 12'500 && each > 6'250)
        << shared << " " << all << " " << each;
  }
}

/// Packings of many devices are created on request, because they take longer.
TEST(PackingTest, AdmitsManyDevicesOnce) {
  Packed few("(switch: 4 gpu)", false), many("(switch: 6 gpu), (switch: 6 gpu)", false),
      too_many("33 gpu", false);
  EXPECT_TRUE(few.packings.usable());
  EXPECT_FALSE(few.packings.Admit());
  EXPECT_FALSE(many.packings.usable());
  EXPECT_TRUE(many.packings.Admit());
  EXPECT_TRUE(many.packings.usable());
  EXPECT_FALSE(many.packings.Admit());
  EXPECT_FALSE(too_many.packings.Admit());
  EXPECT_EQ(many.packings.BoundOf(GraphId::kRing, 0, 1'000'000), 20'000);
}

/// The links between the processors are not a whole number of channels wide.
TEST(PackingTest, EqualChannelsAreBoundedByIntegerShares) {
  Packed one("(numa: 3 gpu, nic 100g), (numa: 2 gpu)", false);
  Packing& packing = one.packings.Of(Pattern::kRing, CrossNic::kSame, 21'000);
  packing.Solve(0);
  const std::int64_t equal = packing.BoundOfEqual(20'000, 32);
  EXPECT_EQ(equal, 21'199);
  EXPECT_GT(packing.bound(), equal);
  EXPECT_EQ(packing.BoundOfEqual(21'200, 32), 21'200) << "what there is, is told";
  EXPECT_EQ(one.packings.BoundOfEqual(GraphId::kRing, 0, 20'000), 20'000) << "what is known stays";
}

/// No search covers all sets of so many devices, so that no bound is proven.
TEST(PackingTest, ClaimsNoBoundForTooManyDevices) {
  Packed many("(switch: 11 gpu), (switch: 11 gpu)", false);
  ASSERT_TRUE(many.packings.Admit());
  EXPECT_EQ(many.packings.BoundOf(GraphId::kRing, 0, 1'000'000), 1'000'000);
  EXPECT_EQ(many.packings.BoundOfEqual(GraphId::kRing, 0, 1'000'000), 1'000'000);
  Packing& packing = many.packings.Of(Pattern::kRing, CrossNic::kSame, 1'000'000);
  EXPECT_TRUE(packing.Shares().empty());
  EXPECT_EQ(packing.Divide(4, 1, 24'000, Effort::kSome).mb_per_s, 5'000);
}

TEST(PackingTest, TreesAreBoundedByTheirBestPattern) {
  Packed one("(numa: (switch: 2 gpu, 1 nic 100g)), (numa: (switch: 2 gpu, 1 nic 100g))", true);
  const std::int64_t bound = one.packings.BoundOf(GraphId::kTree, 0, 1'000'000);
  EXPECT_LE(bound, 25'000);
  EXPECT_GT(bound, 0);
}

}  // namespace
}  // namespace ringlet::plan
