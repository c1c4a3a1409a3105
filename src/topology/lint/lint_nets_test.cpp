#include <gmock/gmock.h>

#include "topology/lint/lint_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

const std::string kSecondNet = "system/cpu[0]/pci[0000:02:00.0]/nic/net[nic1]";

TEST(LintNetsTest, DevicesHaveNumbersOfTheirOwn) {
  EXPECT_THAT(SaidOf("2 nic", [](HostView&) {}), ElementsAre());
  EXPECT_THAT(SaidOf("2 nic", [](HostView& v) { v.nets[1].dev.reset(); }),
              ElementsAre("warning net-without-device " + kSecondNet));
  EXPECT_THAT(SaidOf("2 nic", [](HostView& v) { v.nets[1].dev = 0; }),
              ElementsAre("error duplicate-net " + kSecondNet));
  EXPECT_THAT(SaidOf("2 nic",
                     [](HostView& v) {
                       v.nets[1].dev = 0;
                       v.nets[0].name = "nic1";
                     }),
              ElementsAre("warning net-twice " + kSecondNet));
}

/// Two NUMA nodes, each with a NIC that has no PCI function.
template <typename Change>
std::vector<std::string> SaidOfLoose(Change change) {
  return SaidOf("2x(numa: nic)", [&](HostView& v) {
    v.pci.clear();
    v.nics[0].parent = {PartKind::kNuma, 0};
    v.nics[1].parent = {PartKind::kNuma, 1};
    change(v);
  });
}

TEST(LintNetsTest, TheSameInterfacesAtSeveralNodesAreNcclsOwn) {
  EXPECT_THAT(SaidOfLoose([](HostView& v) {
                v.nets[1].name = v.nets[0].name;
                v.nets[1].dev = v.nets[0].dev;
              }),
              ElementsAre("note net-twice system/cpu[1]/nic"));
  EXPECT_THAT(SaidOfLoose([](HostView& v) { v.nets[1].dev = v.nets[0].dev; }),
              ElementsAre("warning joined-nics system/cpu[1]/nic",
                          "error duplicate-net system/cpu[1]/nic/net[nic1]"));
}

TEST(LintNetsTest, AnUnknownSpeedIsNoted) {
  EXPECT_THAT(SaidOf("2 nic", [](HostView& v) { v.nets[1].speed_mbit_per_s.reset(); }),
              ElementsAre("note no-speed " + kSecondNet));
}

TEST(LintNetsTest, NicsOfNodesAreJoinedByNccl) {
  EXPECT_THAT(SaidOfLoose([](HostView&) {}), ElementsAre("warning joined-nics system/cpu[1]/nic"));
}

}  // namespace
}  // namespace ringlet::topology
