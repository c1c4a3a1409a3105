#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Defect> WithSwitchAt(std::uint8_t generation, std::uint16_t width) {
  return DefectsOf(DefectiveView("(switch: 2 gpu a100-pcie)", [&](HostView& v) {
    v.pci[0].link_speed = PcieSpeed::Of(generation);
    v.pci[0].link_width = width;
  }));
}

TEST(CheckNarrowTest, NamesABridgeFarNarrowerThanItsDevices) {
  const std::vector<Defect> defects = WithSwitchAt(1, 1);
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].rule->word, "narrow-link");
  EXPECT_EQ(defects[0].rule->remedy, Remedy::kEditFile);
  EXPECT_THAT(defects[0].reason, HasSubstr("PCIe 1.0 x1, 0.2 GB/s, is far narrower than GPU"));
  EXPECT_EQ(std::get<PcieChange>(defects[0].repair.at(0)).speed, PcieSpeed::Of(4));
}

TEST(CheckNarrowTest, AcceptsAnOlderGenerationOrHalfTheLanes) {
  EXPECT_THAT(WithSwitchAt(3, 16), IsEmpty());
  EXPECT_THAT(WithSwitchAt(4, 8), IsEmpty());
  EXPECT_EQ(WithSwitchAt(3, 8).size(), 1u);
  EXPECT_EQ(WithSwitchAt(2, 16).size(), 1u);
}

TEST(CheckNarrowTest, ANicNeedsTheBandwidthOfItsPorts) {
  // 10 Gbit/s need no more than one lane.
  EXPECT_THAT(JudgedAfter("(switch: nic 10g), gpu",
                          [](HostView& v) {
                            v.pci[0].link_speed = PcieSpeed::Of(3);
                            v.pci[0].link_width = 2;
                          }),
              IsEmpty());
  EXPECT_THAT(JudgedAfter("nic 400g, gpu",
                          [](HostView& v) {
                            v.pci[0].link_speed = PcieSpeed::Of(3);
                            v.pci[0].link_width = 16;
                          }),
              ElementsAre("warning narrow-link 0000:01:00.0 NIC nic0"));
}

TEST(CheckNarrowTest, IgnoresPlaceholderAndImpossibleRates) {
  const auto judged = [](std::uint32_t mbit_per_s, const char* name, std::uint32_t code) {
    return JudgedAfter("nic, gpu", [&](HostView& v) {
      v.nets[0].speed_mbit_per_s = mbit_per_s;
      v.nets[0].name = name;
      PciDevice& card = v.pci[v.nics[0].parent.index];
      card.device_class = PciClass{code};
      card.link_speed = PcieSpeed::Of(1);
      card.link_width = 1;
    });
  };
  EXPECT_THAT(judged(10'000, "eth0", 0x020000), ElementsAre(testing::StartsWith("warning narrow")));
  EXPECT_THAT(judged(10'000, "wlp2s0", 0x020000), IsEmpty()) << "NCCL's placeholder";
  EXPECT_THAT(judged(10'000, "net0", 0x028000), IsEmpty()) << "by the class of Wi-Fi cards";
  EXPECT_THAT(judged(200'000'000, "cxi0", 0x020000), IsEmpty()) << "the linter names the rate";
}

}  // namespace
}  // namespace ringlet::topology
