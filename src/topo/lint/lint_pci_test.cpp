#include <gmock/gmock.h>

#include "topo/lint/lint_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

const std::string kFirstPci = "system/cpu[0]/pci[0000:01:00.0]";

TEST(LintPciTest, AcceptsSpeedsOfKernelsAndOfNccl) {
  const auto said = [](std::string_view text) {
    return FindingLinesAfter("gpu",
                             [&](HostView& v) { v.pci[0].link_speed = PcieSpeed::Parse(text); });
  };
  EXPECT_THAT(said("16.0 GT/s PCIe"), ElementsAre());
  EXPECT_THAT(said("16 GT/s"), ElementsAre());
  EXPECT_THAT(said(""), ElementsAre("note no-speed " + kFirstPci));
  EXPECT_THAT(said("fast"), ElementsAre("error unknown-speed " + kFirstPci));
  EXPECT_THAT(said("16.0 GT/s"), ElementsAre("warning unknown-speed " + kFirstPci));
  EXPECT_THAT(said("128.0 GT/s PCIe"), ElementsAre("warning unknown-speed " + kFirstPci));
  EXPECT_THAT(said("32 GT/s PCIe/s"), ElementsAre("warning unknown-speed " + kFirstPci));
}

TEST(LintPciTest, ReportsDuplicateBusIds) {
  EXPECT_THAT(
      FindingLinesAfter("3 nic", [](HostView& v) { v.pci[1].bus = v.pci[2].bus = v.pci[0].bus; }),
      ElementsAre("error duplicate-bus-id " + kFirstPci, "error duplicate-bus-id " + kFirstPci));
  EXPECT_THAT(FindingLinesAfter("2x(host: nic)", [](HostView& v) { v.pci[1].bus = v.pci[0].bus; }),
              ElementsAre("note several-hosts system"));
}

TEST(LintPciTest, ReportsImpossibleAddresses) {
  const auto said = [](std::string_view words, BusId bus) {
    return FindingLinesAfter(words, [&](HostView& v) { v.pci[0].bus = bus; });
  };
  EXPECT_THAT(said("gpu", BusId::Of(0, 1, 0x1f, 7)), ElementsAre());
  EXPECT_THAT(said("gpu", BusId::Of(0, 1, 0x20, 0)),
              ElementsAre("error impossible-bus-id system/cpu[0]/pci[0000:01:20.0]"));
  EXPECT_THAT(said("nic", BusId::Of(0, 1, 0, 8)),
              ElementsAre("error impossible-bus-id system/cpu[0]/pci[0000:01:00.8]"));
  EXPECT_THAT(said("(switch: gpu)", BusId::Of(0, 1, 0xff, 0)),
              ElementsAre("warning impossible-bus-id system/cpu[0]/pci[0000:01:ff.0]"));
}

TEST(LintPciTest, TheClassMustFitThePartsBelow) {
  const auto said = [](std::string_view words, std::optional<PciClass> device_class) {
    return FindingLinesAfter(words, [&](HostView& v) { v.pci[0].device_class = device_class; });
  };
  EXPECT_THAT(said("gpu", std::nullopt), ElementsAre("warning missing-class " + kFirstPci));
  EXPECT_THAT(said("gpu", PciClass{0x020000}), ElementsAre("warning odd-class " + kFirstPci));
  EXPECT_THAT(said("nic", PciClass{0x060000}), ElementsAre("note odd-class " + kFirstPci));
  EXPECT_THAT(said("(switch: nic), gpu", PciClass{0x020000}),
              ElementsAre("warning hidden-function " + kFirstPci + "/pci[0000:02:00.0]"));
}

TEST(LintPciTest, WarnsOfPartsHiddenByANic) {
  EXPECT_THAT(FindingLinesAfter("(switch: gpu)",
                                [](HostView& v) {
                                  v.nics = {{{PartKind::kPci, 0}}};
                                }),
              ElementsAre("note odd-class " + kFirstPci,
                          "warning hidden-function " + kFirstPci + "/pci[0000:02:00.0]"));
}

TEST(LintPciTest, WidthsArePowersOfTwo) {
  EXPECT_THAT(FindingLinesAfter("gpu", [](HostView& v) { v.pci[0].link_width = 7; }),
              ElementsAre("warning odd-width " + kFirstPci));
}

TEST(LintPciTest, PeersMustNameEachOther) {
  const auto said = [](bool back) {
    return FindingLinesAfter("(switch: gpu), (switch: gpu)", [&](HostView& v) {
      v.pci[0].peers = {v.pci[2].bus};
      if (back) v.pci[2].peers = {v.pci[0].bus};
    });
  };
  EXPECT_THAT(said(true), ElementsAre());
  EXPECT_THAT(said(false),
              ElementsAre("error one-way-peer " + kFirstPci + "/pcilink[0000:03:00.0]"));
  EXPECT_THAT(FindingLinesAfter("gpu", [](HostView& v) { v.pci[0].peers = {BusId{0x99000}}; }),
              ElementsAre("warning unknown-peer " + kFirstPci + "/pcilink[0000:99:00.0]"));
}

}  // namespace
}  // namespace ringlet::topology
