#include "discovery/pci_tree.hpp"

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
using topology::PciClass;
using topology::PcieSpeed;
using topology::PciIds;

class PciTreeTest : public testing::Test {
 protected:
  std::vector<PciFunction> List() {
    files_.emplace(FileTree::Open(tree_.root()).value());
    sysfs_.emplace(*files_, missing_);
    return ListPci(*sysfs_);
  }
  PciFunction Details(BusId bus) {
    const std::vector<PciFunction> functions = List();
    PciFunction function = *Find(functions, bus);
    ReadDetails(*sysfs_, function);
    return function;
  }

  TempTree tree_;
  std::vector<std::string> missing_;
  std::optional<FileTree> files_;
  std::optional<Sysfs> sysfs_;
};

TEST_F(PciTreeTest, FunctionsAreSortedAndListTheFunctionsAboveThem) {
  WriteFunction(tree_, "pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:04.0/0000:1a:00.0",
                {.device_class = "0x030200"});
  WriteFunction(tree_, "pci0000:00/0000:00:02.0", {});
  const std::vector<PciFunction> functions = List();
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].bus, BusId{0x20});
  EXPECT_THAT(functions[0].above, IsEmpty());
  EXPECT_EQ(functions[1].device_class, PciClass{0x030200});
  EXPECT_THAT(functions[1].above, ElementsAre(BusId{0x19040}, BusId{0x18000}, BusId{0x17000}));
  EXPECT_EQ(Find(functions, BusId{0x1a000}), &functions[1]);
  EXPECT_EQ(Find(functions, BusId{0x1a001}), nullptr);
  EXPECT_THAT(missing_, IsEmpty());
}

TEST_F(PciTreeTest, ReadsTheDetailsOfAFunction) {
  WriteFunction(tree_, "pci10000:00/10000:00:04.0",
                {.device_class = "0x020000",
                 .vendor = "0x15b3",
                 .device = "0x1017",
                 .max_speed = "16.0 GT/s PCIe",
                 .max_width = "16",
                 .current_speed = "2.5 GT/s PCIe",
                 .current_width = "8",
                 .numa = "1",
                 .local_cpus = "ff00ff00"});
  const PciFunction function = Details(BusId::Of(0x10000, 0, 4, 0));
  EXPECT_EQ(function.ids, (PciIds{0x15b3, 0x1017, 0, 0}));
  EXPECT_EQ(function.max, (PciLink{PcieSpeed::Of(4), 16}));
  EXPECT_EQ(function.current, (PciLink{PcieSpeed::Of(1), 8}));
  EXPECT_EQ(function.numa, 1u);
  EXPECT_EQ(ToString(function.local_cpus), "8-15,24-31");
}

TEST_F(PciTreeTest, InvalidValuesAreUnknown) {
  WriteFunction(tree_, "pci0000:00/0000:00:04.0",
                {.device_class = "nonsense",
                 .vendor = "0x12345",
                 .max_speed = "Unknown",
                 .max_width = "255",
                 .numa = "-1",
                 .local_cpus = "xyz"});
  const PciFunction function = Details(BusId{0x40});
  PciFunction expected{.bus = BusId{0x40}, .path = function.path};
  EXPECT_EQ(function.device_class, std::nullopt);
  EXPECT_EQ(function.ids, PciIds());
  EXPECT_EQ(function.max, PciLink());
  EXPECT_EQ(function.numa, std::nullopt);
  EXPECT_TRUE(function.local_cpus.empty());
}

TEST_F(PciTreeTest, AVirtualFunctionReportsItsPhysicalFunction) {
  WriteFunction(tree_, "pci0000:00/0000:03:00.0", {});
  WriteFunction(tree_, "pci0000:00/0000:03:01.2", {});
  tree_.Link("sys/devices/pci0000:00/0000:03:01.2/physfn", "../0000:03:00.0");
  EXPECT_EQ(Details(BusId{0x3012}).physical, BusId{0x3000});
  EXPECT_EQ(Details(BusId{0x3000}).physical, std::nullopt);
}

TEST_F(PciTreeTest, AFolderInPlaceOfALinkIsAFunction) {
  tree_.Write("sys/bus/pci/devices/0004:05:00.0/class", "0x030000\n");
  const std::vector<PciFunction> functions = List();
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].path, "/sys/bus/pci/devices/0004:05:00.0");
  EXPECT_THAT(functions[0].above, IsEmpty());
}

TEST_F(PciTreeTest, AMachineWithoutPciIsReported) {
  EXPECT_THAT(List(), IsEmpty());
  EXPECT_THAT(missing_, ElementsAre(HasSubstr("no PCI functions are known")));
}

TEST(PciLinkTest, TheSlowerLinkLimitsAndAnUnknownLinkDoesNot) {
  const PciLink fast{PcieSpeed::Of(5), 16}, slow{PcieSpeed::Of(3), 8}, unknown{};
  EXPECT_EQ(Slower(fast, slow), slow);
  EXPECT_EQ(Slower(slow, fast), slow);
  EXPECT_EQ(Slower(PciLink{PcieSpeed::Of(5), 8}, PciLink{PcieSpeed::Of(4), 16}),
            (PciLink{PcieSpeed::Of(4), 8}));
  EXPECT_EQ(Slower(fast, unknown), fast);
  EXPECT_EQ(Slower(unknown, fast), fast);
  EXPECT_EQ(Slower(unknown, unknown), unknown);
}

TEST_F(PciTreeTest, BroadcomSwitchesReportTheirPeers) {
  WriteFunction(tree_, "pci0000:00/0000:10:00.0", {});
  WriteFunction(tree_, "pci0000:00/0000:20:00.0", {});
  const std::string links = "sys/kernel/pci_switch_link/virtual_switch_links/0000:10:00.0/";
  tree_.Write(links + "0000:20:00.0", "").Write(links + "0000:30:00.0", "");
  tree_.Write(links + "other", "");
  const std::vector<PciFunction> functions = List();
  EXPECT_THAT(ReadPeers(*sysfs_, functions, BusId{0x10000}, {.vendor = 0x1000}),
              ElementsAre(BusId{0x20000}));
  EXPECT_THAT(ReadPeers(*sysfs_, functions, BusId{0x10000}, {.vendor = 0x10b5}), IsEmpty());
  EXPECT_THAT(ReadPeers(*sysfs_, functions, BusId{0x20000}, {.vendor = 0x1000}), IsEmpty());
}

TEST_F(PciTreeTest, LinksHaveCurrentAndMaximumSpeeds) {
  const FunctionFiles port{.max_speed = "16.0 GT/s PCIe", .max_width = "16"};
  WriteFunction(tree_, "pci0000:17/0000:17:00.0", port);
  WriteFunction(tree_, "pci0000:17/0000:17:00.0/0000:18:00.0",
                {.device_class = "0x020000",
                 .max_speed = "32.0 GT/s PCIe",
                 .max_width = "16",
                 .current_speed = "8.0 GT/s PCIe",
                 .current_width = "8"});
  WriteFunction(tree_, "pci0000:17/0000:17:00.0/0000:18:00.1", {.device_class = "0x010802"});
  const auto states = ReadLinkStates(FileTree::Open(tree_.root()).value());
  ASSERT_EQ(states.size(), 1u);  // ignores root ports, which are topmost, and disks
  EXPECT_EQ(ToString(states[0].bus), "0000:18:00.0");
  EXPECT_EQ(states[0].speed.generation, 3);
  EXPECT_EQ(states[0].width, 8);
  EXPECT_EQ(states[0].best_speed.generation, 4);
  EXPECT_EQ(states[0].best_width, 16);
}

}  // namespace
}  // namespace ringlet::discovery
