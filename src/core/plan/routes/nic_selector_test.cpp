#include "plan/routes/nic_selector.hpp"

#include <gmock/gmock.h>

#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

using testing::ElementsAre;
using topology::PathType;

TEST(NicSelectorTest, ListsPreferredNicsFirstThenNearerOnes) {
  const MachineForTest machine("(numa: (switch: 1 gpu, 1 nic), (switch: 1 gpu, 1 nic))");
  const RouteTable table(machine.paths());
  const SearchOptions options;
  NicSelector nets(table, options);
  EXPECT_THAT(nets.Of(1, PathType::kPix), ElementsAre(1));
  EXPECT_THAT(nets.Of(1, PathType::kSys), ElementsAre(1, 0));
  EXPECT_THAT(nets.OfAll(PathType::kPix), ElementsAre(0, 1));
  EXPECT_EQ(nets.PreferredBy(1), 1u);
  EXPECT_THAT(nets.DevicesNear(1), ElementsAre(1));
  EXPECT_TRUE(nets.Preferred(1));
  EXPECT_EQ(nets.port_count(), 2u);
}

/// A caller may query the devices near another NIC during a loop over these.
TEST(NicSelectorTest, DevicesNearANicKeepTheirAddress) {
  const MachineForTest machine("(numa: (switch: 1 gpu, 1 nic), (switch: 1 gpu, 1 nic))");
  const RouteTable table(machine.paths());
  const SearchOptions options;
  NicSelector nets(table, options);
  const auto* const first = &nets.DevicesNear(0);
  EXPECT_TRUE(nets.Preferred(1));
  EXPECT_THAT(nets.DevicesNear(1), ElementsAre(1));
  ASSERT_EQ(&nets.DevicesNear(0), first);
  EXPECT_THAT(*first, ElementsAre(0));
}

TEST(NicSelectorTest, ThePolicyLimitsTheList) {
  const MachineForTest machine("(numa: (switch: 1 gpu, 1 nic), (switch: 1 gpu, 1 nic))");
  const RouteTable table(machine.paths());
  SearchOptions options;
  options.net_policy = {topology::NetPolicy::Kind::kMax, 1};
  NicSelector nets(table, options);
  EXPECT_THAT(nets.Of(1, PathType::kSys), ElementsAre(1));
}

}  // namespace
}  // namespace ringlet::plan
