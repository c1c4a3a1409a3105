#include "discovery/pci_view.hpp"

#include <gmock/gmock.h>

#include "discovery/pci_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using os::TempTree;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using topology::BusId;
using topology::CpuSet;
using topology::HostView;
using topology::Part;
using topology::PartKind;
using topology::PciClass;

constexpr char kSwitch[] = "pci0000:17/0000:17:00.0/0000:18:00.0";

class PciViewTest : public testing::Test {
 protected:
  PciViewTest() {
    view_.numa_nodes = {{0, CpuSet::Of(0, 7), 0, {10, 21}}, {1, CpuSet::Of(8, 15), 0, {21, 10}}};
  }
  /// A switch below a root port of node 1, with two GPUs below.
  void WriteSwitch() {
    WriteFunction(tree_, "pci0000:17/0000:17:00.0",
                  {.max_speed = "16.0 GT/s PCIe", .max_width = "16", .numa = "1"});
    WriteFunction(tree_, kSwitch, {.max_speed = "32.0 GT/s PCIe", .max_width = "8", .numa = "1"});
    for (const char* const port : {"0000:19:04.0", "0000:19:08.0"})
      WriteFunction(tree_, std::string(kSwitch) + "/" + port,
                    {.max_speed = "16.0 GT/s PCIe", .max_width = "16", .numa = "1"});
    for (const char* const gpu : {"0000:19:04.0/0000:1a:00.0", "0000:19:08.0/0000:1b:00.0"})
      WriteFunction(tree_, std::string(kSwitch) + "/" + gpu,
                    {.device_class = "0x030200",
                     .vendor = "0x10de",
                     .max_speed = "32.0 GT/s PCIe",
                     .max_width = "16",
                     .numa = "0"});
  }
  void Build(const std::vector<BusId>& wanted) {
    functions_ = ListPci(sysfs_);
    pci_.emplace(sysfs_, functions_, view_);
    for (const BusId bus : wanted) pci_->AddWithBridges(bus);
    pci_->Build();
    const Status good = view_.Check();
    EXPECT_TRUE(good.ok()) << good.error().message;
  }
  std::vector<std::string> Shown() const {
    std::vector<std::string> lines;
    for (const auto& device : view_.pci)
      lines.push_back((device.parent.kind == PartKind::kNuma ? "numa " : "pci ") +
                      std::to_string(device.parent.index) + " > " + ToString(device.bus) + " " +
                      device.link_speed.text + " x" + std::to_string(device.link_width));
    return lines;
  }

  TempTree tree_;
  std::vector<std::string> missing_;
  FileTree files_ = FileTree::Open(tree_.root()).value();
  Sysfs sysfs_{files_, missing_};
  HostView view_;
  std::vector<PciFunction> functions_;
  std::optional<PciView> pci_;
};

TEST_F(PciViewTest, BothLevelsOfASwitchFormASingleDevice) {
  WriteSwitch();
  Build({BusId{0x1b000}, BusId{0x1a000}});
  // The root port limits the switch to eight lanes; the downstream port limits a card.
  EXPECT_THAT(Shown(), ElementsAre("numa 1 > 0000:18:00.0 16.0 GT/s PCIe x8",
                                   "pci 0 > 0000:1a:00.0 16.0 GT/s PCIe x16",
                                   "pci 0 > 0000:1b:00.0 16.0 GT/s PCIe x16"));
  EXPECT_EQ(view_.pci[0].device_class, PciClass{0x060400});
  EXPECT_EQ(pci_->IndexOf(BusId{0x1b000}), 2u);
  EXPECT_EQ(pci_->IndexOf(BusId{0x17000}), std::nullopt);
  EXPECT_THAT(missing_, IsEmpty());
}

TEST_F(PciViewTest, AFunctionBehindARootPortIsAttachedToItsNumaNode) {
  WriteFunction(tree_, "pci0000:00/0000:00:02.0", {.max_speed = "8.0 GT/s PCIe", .max_width = "4"});
  WriteFunction(
      tree_, "pci0000:00/0000:00:02.0/0000:01:00.0",
      {.device_class = "0x020000", .max_speed = "16.0 GT/s PCIe", .max_width = "8", .numa = "1"});
  Build({BusId{0x1000}});
  EXPECT_THAT(Shown(), ElementsAre("numa 1 > 0000:01:00.0 8.0 GT/s PCIe x4"));
}

TEST_F(PciViewTest, AFunctionAtTheRootIsAttachedToItsNumaNode) {
  WriteFunction(tree_, "pci10000:00/10000:00:02.0", {.numa = "0"});
  Build({BusId::Of(0x10000, 0, 2, 0)});
  EXPECT_THAT(Shown(), ElementsAre("numa 0 > 10000:00:02.0  x0"));
}

TEST_F(PciViewTest, TheLocalCpusReplaceAMissingNumaNode) {
  WriteFunction(tree_, "pci0000:00/0000:00:02.0", {.numa = "-1", .local_cpus = "0f00"});
  Build({BusId{0x20}});
  EXPECT_THAT(Shown(), ElementsAre("numa 1 > 0000:00:02.0  x0"));
  EXPECT_THAT(missing_, IsEmpty());
}

TEST_F(PciViewTest, LocalCpusOfSeveralNodesGiveNoNumaNode) {
  view_.numa_nodes[0].cpus = CpuSet::Of(0, 15);
  WriteFunction(tree_, "pci0000:00/0000:00:02.0", {.numa = "-1", .local_cpus = "0f00"});
  Build({BusId{0x20}});
  EXPECT_THAT(Shown(), ElementsAre("numa 2 > 0000:00:02.0  x0"));
}

TEST_F(PciViewTest, AHostOfASingleNodeHasAllFunctionsOnIt) {
  view_.numa_nodes = {{3, CpuSet::Of(0, 7), 0, {10}}};
  WriteFunction(tree_, "pci0000:00/0000:00:02.0", {.numa = "-1"});
  Build({BusId{0x20}});
  EXPECT_THAT(Shown(), ElementsAre("numa 0 > 0000:00:02.0  x0"));
}

TEST_F(PciViewTest, FunctionsWithoutANodeShareAnUnknownNode) {
  WriteFunction(tree_, "pci0000:00/0000:00:02.0", {.numa = "-1", .local_cpus = "ffff"});
  WriteFunction(tree_, "pci0000:00/0000:00:03.0", {.numa = "9"});
  Build({BusId{0x20}, BusId{0x30}});
  EXPECT_THAT(Shown(), ElementsAre("numa 2 > 0000:00:02.0  x0", "numa 2 > 0000:00:03.0  x0"));
  ASSERT_EQ(view_.numa_nodes.size(), 3u);
  EXPECT_EQ(view_.numa_nodes[2].id, topology::kUnknownNuma);
  EXPECT_THAT(view_.numa_nodes[0].distances, ElementsAre(10u, 21u, 21u));
  EXPECT_THAT(view_.numa_nodes[2].distances, ElementsAre(21u, 21u, 10u));
  EXPECT_THAT(missing_, ElementsAre(HasSubstr("0000:00:02.0"), HasSubstr("0000:00:03.0")));
}

TEST_F(PciViewTest, AnUnknownNodeHasDistancesOnlyIfTheOthersHave) {
  WriteFunction(tree_, "pci0000:00/0000:00:02.0", {.numa = "9"});
  view_.numa_nodes[1].distances.clear();
  functions_ = ListPci(sysfs_);
  pci_.emplace(sysfs_, functions_, view_);
  pci_->AddWithBridges(BusId{0x20});
  pci_->Build();
  ASSERT_EQ(view_.numa_nodes.size(), 3u);
  EXPECT_THAT(view_.numa_nodes[0].distances, ElementsAre(10u, 21u, 21u));
  EXPECT_THAT(view_.numa_nodes[1].distances, IsEmpty());
  EXPECT_THAT(view_.numa_nodes[2].distances, IsEmpty());
}

TEST_F(PciViewTest, ABridgeThatOnlyThePathShowsIsIncluded) {
  WriteFunction(tree_, "pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:04.0/0000:1a:00.0",
                {.device_class = "0x030200", .max_speed = "16.0 GT/s PCIe", .numa = "1"});
  tree_.Write("sys/devices/pci0000:17/0000:17:00.0/0000:18:00.0/class", "0x060400\n");
  Build({BusId{0x1a000}});
  EXPECT_THAT(Shown(),
              ElementsAre("numa 1 > 0000:18:00.0  x0", "pci 0 > 0000:1a:00.0 16.0 GT/s PCIe x0"));
  EXPECT_EQ(view_.pci[0].device_class, PciClass{0x060400});
}

TEST_F(PciViewTest, AFunctionMissingFromSysIsReported) {
  WriteFunction(tree_, "pci0000:00/0000:00:02.0", {});
  Build({BusId{0x7000}});
  EXPECT_THAT(Shown(), ElementsAre("numa 2 > 0000:07:00.0  x0"));
  EXPECT_THAT(missing_, ElementsAre(HasSubstr("0000:07:00.0 is not in /sys"),
                                    HasSubstr("NUMA node is unknown")));
}

TEST_F(PciViewTest, ContradictoryPathsFormNoCycle) {
  tree_.Link("sys/bus/pci/devices/0000:01:00.0",
             "../../../devices/0000:02:00.0/0000:09:00.0/0000:01:00.0");
  tree_.Link("sys/bus/pci/devices/0000:02:00.0",
             "../../../devices/0000:01:00.0/0000:09:00.0/0000:02:00.0");
  Build({BusId{0x1000}, BusId{0x2000}});
  EXPECT_EQ(view_.pci.size(), 2u);
}

TEST_F(PciViewTest, PartsBeyondTheDepthLimitAreSkipped) {
  std::string path = "pci0000:00";
  for (int i = 0; i < 150; ++i)
    path += "/" + ToString(BusId::Of(0, static_cast<std::uint8_t>(i), 0, 0));
  WriteFunction(tree_, path, {});
  Build({BusId::Of(0, 149, 0, 0)});
  EXPECT_EQ(view_.pci.size(), HostView::kDepthMax);
  EXPECT_THAT(missing_.front(), HasSubstr("too deep"));
}

PciFunction Function(std::uint32_t device_class, std::uint16_t vendor) {
  return {.bus = {}, .path = {}, .device_class = PciClass{device_class}, .ids = {.vendor = vendor}};
}

TEST(IsGpuTest, DependsOnClassAndVendor) {
  for (const auto& [code, vendor] : {std::pair<std::uint32_t, std::uint16_t>{0x030200, 0x10de},
                                     {0x030000, 0x10de},
                                     {0x038000, 0x1002},
                                     {0x120000, 0x1002},
                                     {0x120000, 0x1da3},
                                     {0x038000, 0x8086},
                                     {0x030000, 0}})
    EXPECT_TRUE(IsGpu(Function(code, vendor))) << code;
  for (const auto& [code, vendor] : {std::pair<std::uint32_t, std::uint16_t>{0x030000, 0x1a03},
                                     {0x030000, 0x102b},
                                     {0x030000, 0x8086},
                                     {0x020000, 0x10de},
                                     {0x040300, 0x10de},
                                     {0x068000, 0x10de}})
    EXPECT_FALSE(IsGpu(Function(code, vendor))) << code;
  EXPECT_FALSE(IsGpu({.bus = {}, .path = {}}));
}

}  // namespace
}  // namespace ringlet::discovery
