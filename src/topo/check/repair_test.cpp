#include "topo/check/repair.hpp"

#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

TEST(RepairTest, SetsTheValuesOfTheRepair) {
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

TEST(RepairTest, RemovingAGpuRemovesLinksToIt) {
  HostView view = ParseSynthetic("4 gpu mi300x mesh, 1 nic 100g, 1 nic 200g").value();
  for (std::uint32_t i = 0; i < view.gpus.size(); ++i) view.gpus[i].rank = i;
  const std::vector<Change> changes = {
      PartRemoved{{PartKind::kGpu, 0}}, PartRemoved{{PartKind::kGpu, 2}},
      PartRemoved{{PartKind::kGpu, 2}}, PartRemoved{{PartKind::kNet, 0}}};
  const Result<HostView> left = Repaired(view, changes);
  ASSERT_TRUE(left.ok());
  ASSERT_EQ(left->gpus.size(), 2u);
  EXPECT_EQ(left->gpus[0].pci, view.gpus[1].pci);
  EXPECT_EQ(left->gpus[1].pci, view.gpus[3].pci);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(left->gpus[i].rank, i) << "ranks have no gap";
    ASSERT_EQ(left->gpus[i].links.size(), 1u);
    EXPECT_EQ(left->gpus[i].links[0].target, view.pci[left->gpus[1 - i].pci].bus);
  }
  ASSERT_EQ(left->nets.size(), 1u);
  EXPECT_EQ(left->nets[0].name, view.nets[1].name);
}

TEST(RepairTest, AnAddedGpuHasItsOwnAddressAndNumber) {
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

TEST(RepairTest, AGpuAddedToAMeshIsLinkedToAll) {
  const HostView view = ParseSynthetic("7 gpu mi300x mesh").value();
  const Result<HostView> repaired =
      Repaired(view, std::vector<Change>{GpuAdded{0, {PartKind::kNuma, 0}}});
  ASSERT_TRUE(repaired.ok());
  for (const Gpu& gpu : repaired->gpus) EXPECT_EQ(gpu.links.size(), 7u);
}

TEST(RepairTest, AnAddedNicHasItsOwnPorts) {
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
