#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CheckNicsTest, NamesAPortAtHalfRate) {
  const std::vector<Defect> defects =
      DefectsOf(DefectiveView(kHgxH100, [](HostView& v) { v.nets[4].speed_mbit_per_s = 200'000; }));
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].rule->word, "nic-rate");
  EXPECT_EQ(defects[0].name, "port nic4");
  EXPECT_EQ(defects[0].reason, "200 Gbit/s; 7 of its 7 peers have 400 Gbit/s");
  EXPECT_EQ(std::get<RateChange>(defects[0].repair.at(0)).mbit_per_s, 400'000u);
}

TEST(CheckNicsTest, AcceptsTwoHalvesWithDifferentRates) {
  EXPECT_THAT(JudgedAfter(kHgxH100,
                          [](HostView& v) {
                            for (std::size_t i = 0; i < 4; ++i)
                              v.nets[i].speed_mbit_per_s = 200'000;
                          }),
              IsEmpty());
}

TEST(CheckNicsTest, NicsAwayFromGpusAreNotPeersOfThoseBesideGpus) {
  EXPECT_THAT(JudgedAfter("4x(switch: gpu, nic 400g), nic 100g, nic 25g", [](HostView&) {}),
              IsEmpty());
}

TEST(CheckNicsTest, NamesTheNicWithASlowLinkAmongPeers) {
  EXPECT_THAT(
      JudgedAfter(kHgxH100, [](HostView& v) { v.pci[v.nics[2].parent.index].link_width = 8; }),
      ElementsAre("error nic-pcie 0000:09:00.0 NIC nic2"));
}

TEST(CheckNicsTest, NamesAPortWithoutGpudirect) {
  EXPECT_THAT(JudgedAfter(kHgxH100,
                          [](HostView& v) {
                            for (NetInterface& net : v.nets) net.gdr = true;
                            v.nets[1].gdr = false;
                          }),
              ElementsAre("warning nic-gdr 0000:06:00.0 port nic1"));
}

TEST(CheckNicsTest, NamesASwitchThatLacksTheNicOfItsPeers) {
  const std::vector<Defect> defects = DefectsOf(DefectiveView(kHgxH100, [](HostView& v) {
    v.nets.pop_back();
    v.nics.pop_back();
    v.pci.pop_back();
  }));
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].rule->word, "nic-missing");
  EXPECT_EQ(defects[0].name, "PCIe switch");
  EXPECT_THAT(defects[0].reason, HasSubstr("it has 0 of 1 NICs; 7 of 7 other switches have all"));
  EXPECT_EQ(defects[0].repair.size(), 1u);
}

TEST(CheckNicsTest, FewSwitchesGiveNoRule) {
  EXPECT_THAT(JudgedAfter("2x(switch: 4 gpu, nic), (switch: 4 gpu)", [](HostView&) {}), IsEmpty());
}

TEST(CheckNicsTest, NamesASwitchWithASlowerLinkThanItsPeers) {
  const std::vector<std::string> said = JudgedAfter(kHgxH100, [](HostView& v) {
    for (PciDevice& device : v.pci)
      if (device.parent.kind == PartKind::kNuma) device.ids = {.vendor = 0x1000, .device = 0xc030};
    v.pci[0].link_width = 8;
  });
  EXPECT_THAT(said, ElementsAre("error switch-pcie 0000:01:00.0 PCIe switch"));
}

}  // namespace
}  // namespace ringlet::topology
