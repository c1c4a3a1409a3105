#include <gmock/gmock.h>

#include "topo/lint/lint_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

const std::string kSecondNet = "system/cpu[0]/pci[0000:02:00.0]/nic/net[nic1]";

TEST(LintNetsTest, NetworkDevicesNeedTheirOwnNumbers) {
  EXPECT_THAT(FindingLinesAfter("2 nic", [](HostView&) {}), ElementsAre());
  EXPECT_THAT(FindingLinesAfter("2 nic", [](HostView& v) { v.nets[1].dev.reset(); }),
              ElementsAre("warning net-without-device " + kSecondNet));
  EXPECT_THAT(FindingLinesAfter("2 nic", [](HostView& v) { v.nets[1].dev = 0; }),
              ElementsAre("error duplicate-net " + kSecondNet));
  EXPECT_THAT(FindingLinesAfter("2 nic",
                                [](HostView& v) {
                                  v.nets[1].dev = 0;
                                  v.nets[0].name = "nic1";
                                }),
              ElementsAre("warning net-twice " + kSecondNet));
}

/// Two NUMA nodes, each with a NIC that has no PCI function.
template <typename Change>
std::vector<std::string> SaidOfLoose(Change change) {
  return FindingLinesAfter("2x(numa: nic)", [&](HostView& v) {
    v.pci.clear();
    v.nics[0].parent = {PartKind::kNuma, 0};
    v.nics[1].parent = {PartKind::kNuma, 1};
    change(v);
  });
}

TEST(LintNetsTest, NotesInterfacesThatNcclRepeatsPerNode) {
  EXPECT_THAT(SaidOfLoose([](HostView& v) {
                v.nets[1].name = v.nets[0].name;
                v.nets[1].dev = v.nets[0].dev;
              }),
              ElementsAre("note net-twice system/cpu[1]/nic"));
  EXPECT_THAT(SaidOfLoose([](HostView& v) { v.nets[1].dev = v.nets[0].dev; }),
              ElementsAre("warning joined-nics system/cpu[1]/nic",
                          "error duplicate-net system/cpu[1]/nic/net[nic1]"));
}

TEST(LintNetsTest, NotesAnUnknownSpeed) {
  EXPECT_THAT(FindingLinesAfter("2 nic", [](HostView& v) { v.nets[1].speed_mbit_per_s.reset(); }),
              ElementsAre("note no-speed " + kSecondNet));
}

TEST(LintNetsTest, WarnsOfNicsThatNcclJoins) {
  EXPECT_THAT(SaidOfLoose([](HostView&) {}), ElementsAre("warning joined-nics system/cpu[1]/nic"));
}

TEST(LintNetsTest, ReportsAnImpossibleRate) {
  EXPECT_THAT(
      FindingLinesAfter("2 nic", [](HostView& v) { v.nets[1].speed_mbit_per_s = 200'000'000; }),
      ElementsAre("error impossible-rate " + kSecondNet));
  EXPECT_THAT(
      FindingLinesAfter("2 nic", [](HostView& v) { v.nets[1].speed_mbit_per_s = 3'200'000; }),
      ElementsAre())
      << "four merged ports";
}

TEST(LintNetsTest, WarnsOfCardsThatShareAGuid) {
  const auto with_guids = [](std::vector<std::uint64_t> guids) {
    return FindingLinesAfter("4 nic", [&](HostView& v) {
      for (std::size_t i = 0; i < v.nets.size(); ++i) v.nets[i].guid = guids[i];
    });
  };
  EXPECT_THAT(with_guids({1, 2, 3, 4}), ElementsAre());
  EXPECT_THAT(with_guids({0, 0, 0, 0}), ElementsAre()) << "unknown";
  EXPECT_THAT(with_guids({1, 1, 3, 4}), ElementsAre("warning duplicate-guid " + kSecondNet));
  EXPECT_THAT(with_guids({1, 1, 3, 3}), ElementsAre()) << "each card has two slots";
  EXPECT_THAT(FindingLinesAfter("4 nic",
                                [](HostView& v) {
                                  for (std::size_t i = 0; i < 4; ++i)
                                    v.nets[i].guid = i == 1 ? 1 : i + 1;
                                  v.pci[1].bus.value =
                                      v.pci[0].bus.value + 1;  // its second function
                                }),
              ElementsAre());
}

}  // namespace
}  // namespace ringlet::topology
