#include "topo/edit/compare.hpp"

#include <gmock/gmock.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

template <typename Change>
std::vector<std::string> Differences(std::string_view words, Change change) {
  const HostView first = ParseSynthetic(words).value();
  HostView second = first;
  change(second);
  EXPECT_TRUE(second.Check().ok());
  return Compare(first, second);
}

TEST(CompareTest, EqualMachinesDoNotDiffer) {
  EXPECT_THAT(Differences("2x(numa: 2 gpu h100-sxm5 switch, nic)",
                          [](HostView& v) {
                            v.name = "other";
                            v.identity = 99;
                            v.gpus[0].rank = 7;
                          }),
              ElementsAre());
}

TEST(CompareTest, NamesTheDifferencesOfAPart) {
  EXPECT_THAT(Differences("(numa: gpu)", [](HostView& v) { v.numa_nodes[0].cpus = {}; }),
              ElementsAre("NUMA node 0: the set of CPUs is 0-15 in the first, unknown in the "
                          "second"));
  EXPECT_THAT(Differences("gpu", [](HostView& v) { v.pci[0].link_speed = PcieSpeed::Of(3); }),
              ElementsAre("PCI function 0000:01:00.0: the link speed is 16.0 GT/s PCIe in the "
                          "first, 8.0 GT/s PCIe in the second"));
  EXPECT_THAT(
      Differences("2 gpu a100-pcie pairs", [](HostView& v) { v.gpus[0].links[0].count = 4; }),
      ElementsAre("GPU 0000:01:00.0's NVLink to 0000:02:00.0: the number of links is 12 in "
                  "the first, 4 in the second"));
  EXPECT_THAT(Differences("nic", [](HostView& v) { v.nets[0].speed_mbit_per_s.reset(); }),
              ElementsAre("interface nic0: the speed is 200000 Mbit/s in the first, unknown in the "
                          "second"));
}

TEST(CompareTest, NamesAMovedPart) {
  EXPECT_THAT(
      Differences("2x(numa: gpu)",
                  [](HostView& v) {
                    v.pci[1].parent = {PartKind::kNuma, 0};
                  }),
      ElementsAre("PCI function 0000:02:00.0: the place is below NUMA node 1 in the first, below "
                  "NUMA node 0 in the second"));
}

TEST(CompareTest, NamesPartsThatOnlyOneMachineHas) {
  EXPECT_THAT(Compare(ParseSynthetic("nic").value(), ParseSynthetic("gpu").value()),
              testing::Contains("interface nic0 is only in the first"));
  EXPECT_THAT(Compare(ParseSynthetic("gpu").value(), ParseSynthetic("2 gpu").value()),
              ElementsAre("PCI function 0000:02:00.0 is only in the second",
                          "GPU 0000:02:00.0 is only in the second"));
}

TEST(CompareTest, ReportsAnotherOrder) {
  EXPECT_THAT(
      Differences("2 gpu", [](HostView& v) { std::swap(v.gpus[0], v.gpus[1]); }),
      ElementsAre("the parts are equal but in another order, which NCCL's search depends on"));
}

TEST(CompareTest, CountsPartsWithEqualNames) {
  EXPECT_THAT(Differences("2 gpu", [](HostView& v) { v.pci[1].bus = v.pci[0].bus; }),
              testing::Contains("PCI function 0000:01:00.0 (2) is only in the second"));
}

TEST(CompareTest, SeparatesHosts) {
  EXPECT_THAT(
      Compare(ParseSynthetic("2x(host: gpu)").value(), ParseSynthetic("(host: gpu)").value()),
      testing::Contains("host 2, NUMA node 0 is only in the first"));
}

}  // namespace
}  // namespace ringlet::topology
