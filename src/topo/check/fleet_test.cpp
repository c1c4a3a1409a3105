#include "topo/check/fleet.hpp"

#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::Each;
using testing::Eq;

using Usual = std::vector<std::optional<std::size_t>>;

TEST(FleetTest, ComparesAMachineWithTheMajority) {
  const HostView good = ParseSynthetic(kHgxH100).value();
  const HostView slow = DefectiveView(kHgxH100, [](HostView& v) {
    for (NetInterface& net : v.nets) net.speed_mbit_per_s = 200'000;
  });
  const HostView* const views[] = {&good, &slow, &good, nullptr, &good};
  EXPECT_EQ(UsualMachines(views), (Usual{{}, 0, {}, {}, {}}));
}

TEST(FleetTest, WithoutAMajorityNoMachineIsUsual) {
  const HostView good = ParseSynthetic(kHgxH100).value();
  const HostView slow =
      DefectiveView(kHgxH100, [](HostView& v) { v.nets[0].speed_mbit_per_s = 1000; });
  const HostView* const views[] = {&good, &slow, &good, &slow};
  EXPECT_THAT(UsualMachines(views), Each(Eq(std::nullopt)));
  const HostView* const one[] = {&good};
  EXPECT_THAT(UsualMachines(one), Each(Eq(std::nullopt)));
}

TEST(FleetTest, GpuModelsFormSeparateClasses) {
  const HostView h100 = ParseSynthetic(kHgxH100).value();
  const HostView a100 = ParseSynthetic("8 gpu a100-sxm4 switch").value();
  const HostView* const views[] = {&h100, &h100, &a100, &h100};
  EXPECT_THAT(UsualMachines(views), Each(Eq(std::nullopt)));
}

TEST(FleetTest, AMachineWithoutGpusJoinsTheLargestClass) {
  const HostView good = ParseSynthetic(kHgxH100).value();
  const HostView none = ParseSynthetic("nic").value();
  const HostView* const views[] = {&none, &good, &good};
  EXPECT_EQ(UsualMachines(views), (Usual{1, {}, {}}));
}

TEST(FleetTest, IgnoresAddressesAndNames) {
  const HostView good = ParseSynthetic(kHgxH100).value();
  const HostView other = DefectiveView(kHgxH100, [](HostView& v) {
    for (PciDevice& device : v.pci) device.bus.value += 0x100000;
    for (NetInterface& net : v.nets) net.name += "x";
  });
  EXPECT_EQ(AbilityOf(good), AbilityOf(other));
}

TEST(FleetTest, DoesNotCompareMachinesOfOtherKinds) {
  const HostView good = ParseSynthetic(kHgxH100).value();
  const HostView other_processor =
      DefectiveView("2x(numa: 4x(switch: gpu h100-sxm5 switch))",
                    [](HostView& v) { v.cpu.vendor = "AuthenticAMD"; });
  const HostView other_devices = ParseSynthetic("2 gpu h100-sxm5 switch").value();
  const HostView* const views[] = {&good, &good, &good, &other_processor, &other_devices};
  EXPECT_THAT(UsualMachines(views), Each(Eq(std::nullopt)));
}

TEST(FleetTest, AMachineThatLacksItsNicsStaysInItsClass) {
  const HostView good = ParseSynthetic("8 gpu h100-sxm5 switch, 2 nic 400g").value();
  const HostView bare = ParseSynthetic("8 gpu h100-sxm5 switch").value();
  const HostView* const views[] = {&good, &good, &bare};
  EXPECT_EQ(UsualMachines(views), (Usual{{}, {}, 0}));
}

}  // namespace
}  // namespace ringlet::topology
