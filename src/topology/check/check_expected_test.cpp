#include <gmock/gmock.h>

#include "topology/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const HostView& Good() {
  static const HostView view = ParseSynthetic(kHgxH100).value();
  return view;
}

TEST(CheckExpectedTest, TheSameMachineIsAsExpected) {
  EXPECT_THAT(Judged(Good(), &Good()), IsEmpty());
}

TEST(CheckExpectedTest, GpusThatAreNotHereAreNamed) {
  const HostView half =
      ParseSynthetic("(numa: 4x(switch: gpu h100-sxm5 switch, nic 400g))").value();
  const std::vector<Defect> defects = DefectsOf(half, &Good());
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].rule->word, "gpu-missing");
  EXPECT_THAT(defects[0].reason, HasSubstr("4 of the 8 GPUs of good are here; not here: 0000:"));
  const HostView none = ParseSynthetic("nic").value();
  EXPECT_THAT(Judged(none, &Good()), ElementsAre("error gpu-missing 0 GPUs"));
}

TEST(CheckExpectedTest, AValueThatAllHaveLessOfIsSeen) {
  const HostView view = Sick(kHgxH100, [](HostView& v) {
    for (const Gpu& gpu : v.gpus) v.pci[gpu.pci].link_speed = PcieSpeed::Of(4);
    for (NetInterface& net : v.nets) net.speed_mbit_per_s = 200'000;
  });
  const std::vector<std::string> said = Judged(view, &Good());
  EXPECT_EQ(std::ranges::count_if(
                said, [](const auto& one) { return one.starts_with("error gpu-pcie"); }),
            8);
  EXPECT_EQ(std::ranges::count_if(
                said, [](const auto& one) { return one.starts_with("error nic-rate"); }),
            8);
}

TEST(CheckExpectedTest, BridgesThatAreNotThereAreSeen) {
  const HostView bridged = ParseSynthetic("4 gpu a100-pcie pairs").value();
  const HostView bare = ParseSynthetic("4 gpu a100-pcie").value();
  const std::vector<std::string> said = Judged(bare, &bridged);
  EXPECT_EQ(said.size(), 4u);
  EXPECT_THAT(said, Each(StartsWith("error nvlinks-none")));
}

TEST(CheckExpectedTest, AnotherModelIsSeen) {
  const HostView other = Sick(kHgxH100, [](HostView& v) {
    for (const Gpu& gpu : v.gpus) v.pci[gpu.pci].ids.device = 0x2335;
  });
  const std::vector<std::string> said = Judged(other, &Good());
  EXPECT_EQ(said.size(), 8u);
  EXPECT_THAT(said, Each(StartsWith("error gpu-other-model")));
}

TEST(CheckExpectedTest, SwappedNumaNodesAreSeenWhereAddressesAreTheSame) {
  const HostView view =
      Sick(kHgxH100, [](HostView& v) { std::swap(v.numa_nodes[0].id, v.numa_nodes[1].id); });
  const std::vector<std::string> said = Judged(view, &Good());
  EXPECT_EQ(said.size(), 16u);  // GPUs and NICs
  EXPECT_THAT(said,
              Each(testing::AnyOf(StartsWith("warning gpu-numa"), StartsWith("warning nic-numa"))));
}

TEST(CheckExpectedTest, PortsThatAreNotHereAreCounted) {
  const HostView view = Sick(kHgxH100, [](HostView& v) {
    for (int i = 0; i < 3; ++i) {
      v.nets.pop_back();
      v.nics.pop_back();
      v.pci.erase(v.pci.end() - 1);
      v.pci.erase(v.pci.end() - 1);  // its GPU's function
      v.pci.erase(v.pci.end() - 1);  // and the switch
      v.gpus.pop_back();
    }
  });
  EXPECT_THAT(Judged(view, &Good()), ElementsAre(StartsWith("error gpu-missing")));
  const HostView without = ParseSynthetic("2x(numa: 4x(switch: gpu h100-sxm5 switch))").value();
  EXPECT_THAT(Judged(without, &Good()), ElementsAre("error nic-missing 0 ports"));
}

TEST(CheckExpectedTest, ADefectIsSaidOnce) {
  const HostView view = Sick(kHgxH100, [](HostView& v) {
    v.pci[v.gpus[3].pci].link_width = 4;
    v.gpus[3].links[0].count = 9;
    v.nets[0].speed_mbit_per_s = 100'000;
  });
  EXPECT_EQ(Judged(view, &Good()).size(), 3u);
}

}  // namespace
}  // namespace ringlet::topology
