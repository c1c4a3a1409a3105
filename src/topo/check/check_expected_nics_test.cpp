#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(CheckExpectedNicsTest, CountsMissingPorts) {
  const HostView view = DefectiveView(kHgxH100, [](HostView& v) {
    for (int i = 0; i < 3; ++i) {
      v.nets.pop_back();
      v.nics.pop_back();
      v.pci.erase(v.pci.end() - 1);
      v.pci.erase(v.pci.end() - 1);  // its GPU's function
      v.pci.erase(v.pci.end() - 1);  // and the switch
      v.gpus.pop_back();
    }
  });
  EXPECT_THAT(Judged(view, &GoodHgx()), ElementsAre(StartsWith("error gpu-missing"),
                                                    StartsWith("error nic-missing 5 ports")));
  const HostView without = ParseSynthetic("2x(numa: 4x(switch: gpu h100-sxm5 switch))").value();
  EXPECT_THAT(Judged(without, &GoodHgx()), ElementsAre("error nic-missing 0 ports"));
}

/// Four GPUs in a mesh and four NICs, each on a root port.
constexpr std::string_view kOnRootPorts = "2x(numa: 2 gpu a100-sxm4 mesh, 2 nic 200g)";

void RemoveNics(HostView& v, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    v.nets.pop_back();
    v.pci.erase(v.pci.begin() + v.nics.back().parent.index);
    v.nics.pop_back();
  }
}

TEST(CheckExpectedNicsTest, ReportsMissingNicsOnRootPorts) {
  const HostView good = ParseSynthetic(kOnRootPorts).value();
  EXPECT_THAT(Judged(good, &good), IsEmpty());
  const HostView lacks = DefectiveView(kOnRootPorts, [](HostView& v) { RemoveNics(v, 1); });
  const std::vector<Defect> defects = DefectsOf(lacks, &good);
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].rule->word, "nic-missing");
  EXPECT_THAT(defects[0].reason, HasSubstr("3 of the 4 ports of good are present; missing: 0000:"));
  const HostView bare = ParseSynthetic("2x(numa: 2 gpu a100-sxm4 mesh)").value();
  EXPECT_THAT(Judged(bare, &good), ElementsAre("error nic-missing 0 ports"));
  const HostView slow = DefectiveView(kOnRootPorts, [](HostView& v) {
    for (NetInterface& net : v.nets) net.speed_mbit_per_s = 100'000;
    for (const Nic& nic : v.nics) v.pci[nic.parent.index].link_width = 8;
  });
  EXPECT_EQ(Judged(slow, &good).size(), 8u) << "four rates and four links";
}

TEST(CheckExpectedNicsTest, OnlyPortsOfAnExpectedKindNeedGdr) {
  const HostView good = ParseSynthetic(kOnRootPorts).value();
  const auto without = [&](PciIds ids) {
    return Judged(DefectiveView(kOnRootPorts,
                                [&](HostView& v) {
                                  v.nets.back().gdr = false;
                                  v.nets.back().speed_mbit_per_s = 10'000;
                                  v.pci[v.nics.back().parent.index].ids = ids;
                                }),
                  &good);
  };
  const PciIds same = good.pci[good.nics.back().parent.index].ids;
  EXPECT_THAT(without(same), testing::Contains(StartsWith("warning nic-gdr")));
  EXPECT_THAT(without({.vendor = 0x8086, .device = 0x1563}),
              testing::Not(testing::Contains(StartsWith("warning nic-gdr"))));
}

}  // namespace
}  // namespace ringlet::topology
