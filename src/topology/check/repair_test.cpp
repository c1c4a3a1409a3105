#include "topology/check/repair.hpp"

#include <gmock/gmock.h>

#include "topology/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

TEST(RepairTest, ValuesBecomeThoseOfTheRepair) {
  const HostView view = ParseSynthetic(kHgxH100).value();
  const std::vector<Change> changes = {
      PcieChange{1, PcieSpeed::Of(6), 4}, LinksChange{2, {{.count = 3}}}, RateChange{3, 800'000},
      GdrChange{{PartKind::kNet, 1}},     GdrChange{{PartKind::kGpu, 1}},
  };
  const Result<HostView> repaired = Repaired(view, changes);
  ASSERT_TRUE(repaired.ok());
  EXPECT_EQ(repaired->pci[1].link_speed, PcieSpeed::Of(6));
  EXPECT_EQ(repaired->pci[1].link_width, 4);
  EXPECT_EQ(repaired->gpus[2].links.at(0).count, 3u);
  EXPECT_EQ(repaired->nets[3].speed_mbit_per_s, 800'000u);
  EXPECT_EQ(repaired->nets[1].gdr, true);
  EXPECT_EQ(repaired->gpus[1].gdr, true);
}

TEST(RepairTest, AnAddedGpuHasAnAddressAndANumberOfItsOwn) {
  const HostView view = ParseSynthetic("7 gpu h100-sxm5 switch").value();
  const Result<HostView> repaired =
      Repaired(view, std::vector<Change>{GpuAdded{0, {PartKind::kNuma, 0}}});
  ASSERT_TRUE(repaired.ok());
  ASSERT_EQ(repaired->gpus.size(), 8u);
  std::set<std::uint32_t> numbers;
  std::set<BusId> addresses;
  for (const Gpu& gpu : repaired->gpus) {
    numbers.insert(gpu.dev.value());
    addresses.insert(repaired->pci[gpu.pci].bus);
    EXPECT_EQ(gpu.links, view.gpus[0].links);
  }
  EXPECT_EQ(numbers.size(), 8u);
  EXPECT_EQ(addresses.size(), 8u);
}

TEST(RepairTest, AGpuAddedToAMeshIsJoinedWithAll) {
  const HostView view = ParseSynthetic("7 gpu mi300x mesh").value();
  const Result<HostView> repaired =
      Repaired(view, std::vector<Change>{GpuAdded{0, {PartKind::kNuma, 0}}});
  ASSERT_TRUE(repaired.ok());
  for (const Gpu& gpu : repaired->gpus) EXPECT_EQ(gpu.links.size(), 7u);
}

TEST(RepairTest, AnAddedNicHasPortsOfItsOwn) {
  const HostView view = ParseSynthetic(kHgxH100).value();
  const Result<HostView> repaired =
      Repaired(view, std::vector<Change>{NicAdded{0, {PartKind::kNuma, 1}}});
  ASSERT_TRUE(repaired.ok());
  ASSERT_EQ(repaired->nets.size(), 9u);
  std::set<std::uint32_t> numbers;
  for (const NetInterface& net : repaired->nets) numbers.insert(net.dev.value());
  EXPECT_EQ(numbers.size(), 9u);
}

}  // namespace
}  // namespace ringlet::topology
