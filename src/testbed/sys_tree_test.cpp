#include "testbed/sys_tree.hpp"

#include <gmock/gmock.h>

#include "os/fs/temp_tree_for_test.hpp"
#include "testbed/machines_for_test.hpp"

namespace ringlet::testbed {
namespace {

using testing::HasSubstr;

class SysTreeTest : public testing::Test {
 protected:
  std::string File(const std::string& path) const {
    const auto at = tree_.entries.find(path);
    if (at == tree_.entries.end() || at->second.type != SysEntry::EntryType::kFile) return "(none)";
    return at->second.content;
  }
  std::string LinkAt(const std::string& path) const {
    const auto at = tree_.entries.find(path);
    if (at == tree_.entries.end() || at->second.type != SysEntry::EntryType::kLink) return "(none)";
    return at->second.content;
  }
  bool Has(const std::string& path) const { return tree_.entries.count(path) != 0; }

  SysTree tree_ = SysTreeOf(SmallMachine(), {}).value();
  const std::string gpu_ =
      "/sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0/0000:43:00.0";
  const std::string card_ =
      "/sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:01.0/0000:45:00.";
};

TEST_F(SysTreeTest, FunctionsHaveTheValuesInTheFile) {
  EXPECT_EQ(LinkAt("/sys/bus/pci/devices/0000:43:00.0"), "../../../" + gpu_.substr(5));
  EXPECT_EQ(File(gpu_ + "/vendor"), "0x10de\n");
  EXPECT_EQ(File(gpu_ + "/device"), "0x20b0\n");
  EXPECT_EQ(File(gpu_ + "/subsystem_device"), "0x134f\n");
  EXPECT_EQ(File(gpu_ + "/class"), "0x030200\n");
  EXPECT_EQ(File(gpu_ + "/max_link_speed"), "16.0 GT/s PCIe\n");
  EXPECT_EQ(File(gpu_ + "/current_link_width"), "8\n");
  EXPECT_EQ(File(gpu_ + "/numa_node"), "1\n");
  EXPECT_EQ(File(gpu_ + "/local_cpulist"), "2-3\n");
  EXPECT_EQ(File(gpu_ + "/local_cpus"), "0000000c\n");
  EXPECT_EQ(File(gpu_ + "/config").size(), 256u);
  EXPECT_EQ(LinkAt(gpu_ + "/subsystem"), "../../../../../../bus/pci");
  EXPECT_THAT(File(gpu_ + "/uevent"), HasSubstr("PCI_SLOT_NAME=0000:43:00.0\n"));
}

TEST_F(SysTreeTest, OmitsValuesThatTheFileLacks) {
  EXPECT_EQ(File("/sys/devices/pci0000:04/0000:04:01.0/0000:05:00.0/max_link_speed"), "(none)");
  EXPECT_EQ(File("/sys/devices/system/node/node0/distance"), "(none)");
}

TEST_F(SysTreeTest, PortsHaveTheIdsOfTheirSwitchAndTheLinkBelow) {
  const std::string port = gpu_.substr(0, gpu_.rfind('/'));
  EXPECT_EQ(File(port + "/device"), "0xc010\n");
  EXPECT_EQ(File(port + "/max_link_width"), "8\n");
  EXPECT_EQ(File("/sys/devices/pci0000:40/0000:40:01.0/vendor"), "0x1022\n");
}

TEST_F(SysTreeTest, BusesAreBelowTheirBridges) {
  EXPECT_EQ(LinkAt("/sys/class/pci_bus/0000:43"),
            "../../" + gpu_.substr(5, gpu_.rfind('/') - 5) + "/pci_bus/0000:43");
  EXPECT_EQ(LinkAt("/sys/class/pci_bus/0000:40"), "../../devices/pci0000:40/pci_bus/0000:40");
}

TEST_F(SysTreeTest, RdmaDevicesBelongToTheFunctionsOfTheirCard) {
  EXPECT_EQ(LinkAt("/sys/class/infiniband/mlx5_1"),
            "../../" + card_.substr(5) + "1/infiniband/mlx5_1");
  const std::string first = card_ + "0/infiniband/mlx5_0", second = card_ + "1/infiniband/mlx5_1";
  EXPECT_EQ(File(first + "/sys_image_guid"), "0c42:a103:0055:62a2\n");
  EXPECT_EQ(File(first + "/ports/1/rate"), "200 Gb/sec\n");
  EXPECT_EQ(File(first + "/ports/1/state"), "4: ACTIVE\n");
  EXPECT_EQ(File(first + "/ports/1/link_layer"), "InfiniBand\n");
  EXPECT_EQ(File(second + "/ports/1/rate"), "25.5 Gb/sec\n");
  EXPECT_EQ(LinkAt(first + "/device"), "../..");
  EXPECT_TRUE(Has("/sys/kernel/mm/memory_peers/nv_mem/version"));
}

TEST_F(SysTreeTest, InterfacesOfTheComputerRemain) {
  const std::string folder = "/sys/devices/pci0000:04/0000:04:01.0/0000:05:00.0/net/eth7";
  EXPECT_EQ(LinkAt("/sys/class/net/eth7"), "../../" + folder.substr(5));
  EXPECT_EQ(File(folder + "/speed"), "100000\n");
  ComputerSys computer;
  computer.interfaces = {"eth7"};
  tree_ = SysTreeOf(SmallMachine(), computer).value();
  EXPECT_FALSE(Has("/sys/class/net/eth7"));
  EXPECT_FALSE(Has(folder));
}

TEST_F(SysTreeTest, NumaNodesAreInNumericalOrder) {
  const std::string nodes = "/sys/devices/system/node/";
  EXPECT_EQ(File(nodes + "online"), "0,1\n");
  EXPECT_EQ(File(nodes + "node1/cpulist"), "2-3\n");
  EXPECT_EQ(File(nodes + "node0/cpumap"), "00000003\n");
  topology::HostView view = SmallMachine();
  view.numa_nodes[0].distances = {10, 32};
  view.numa_nodes[1].distances = {31, 10};
  ComputerSys computer;
  computer.memory_kib = 1000;
  tree_ = SysTreeOf(view, computer).value();
  EXPECT_EQ(File(nodes + "node1/distance"), "32 10\n");
  EXPECT_EQ(File(nodes + "node0/distance"), "10 31\n");
  EXPECT_THAT(File(nodes + "node0/meminfo"), HasSubstr("Node 0 MemTotal: 500 kB\n"));
}

TEST_F(SysTreeTest, ProcessorsFollowTheMachineOnlyOnRequest) {
  const std::string cpus = "/sys/devices/system/cpu/";
  EXPECT_FALSE(Has(cpus + "online"));
  tree_ = SysTreeOf(SmallMachine(), {}, SysCpus::kMachine).value();
  EXPECT_EQ(File(cpus + "online"), "0-3\n");
  EXPECT_EQ(File(cpus + "cpu3/topology/thread_siblings_list"), "3\n");
}

TEST_F(SysTreeTest, FunctionsAndNumaNodesReplaceThoseOfTheComputer) {
  const auto others = [&](const std::string& path) { return tree_.entries.at(path).others; };
  EXPECT_EQ(others("/sys/bus/pci/devices"), OtherEntries::kNone);
  EXPECT_EQ(others("/sys/class/infiniband"), OtherEntries::kNone);
  EXPECT_EQ(others("/sys/devices/system/node/node0"), OtherEntries::kNone);
  EXPECT_EQ(others("/sys/devices/pci0000:00/0000:00:04.0"), OtherEntries::kFolders);
  EXPECT_EQ(others("/sys/class/net"), OtherEntries::kAll);
  EXPECT_EQ(others("/sys"), OtherEntries::kAll);
}

TEST_F(SysTreeTest, EveryEntryIsInAFolder) {
  for (const auto& [path, entry] : tree_.entries) {
    if (path == "/sys") continue;
    const auto above = tree_.entries.find(path.substr(0, path.rfind('/')));
    ASSERT_NE(above, tree_.entries.end()) << path;
    EXPECT_EQ(above->second.type, SysEntry::EntryType::kFolder) << path;
  }
}

TEST_F(SysTreeTest, OmitsANameThatIsNotAFileName) {
  topology::HostView view = SmallMachine();
  view.nets[0].name = "../../x";
  view.nets[1].name = "..";
  view.nets[2].name = "";
  tree_ = SysTreeOf(view, {}).value();
  for (const auto& [path, entry] : tree_.entries) EXPECT_EQ(path.find(".."), std::string::npos);
}

TEST_F(SysTreeTest, RefusesTooManyDevices) {
  topology::HostView view = SmallMachine();
  view.pci.resize(kSysFunctionsMax + 1, view.pci.back());
  const auto tree = SysTreeOf(view, {});
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.error().code, Code::kUnsupported);
  EXPECT_THAT(tree.error().message, HasSubstr("4097 PCI devices"));
}

TEST_F(SysTreeTest, ListsTheLinkBetweenJoinedSwitches) {
  topology::HostView view = SmallMachine();
  view.pci[0].peers = {view.pci[3].bus};
  tree_ = SysTreeOf(view, {}).value();
  EXPECT_TRUE(Has("/sys/kernel/pci_switch_link/virtual_switch_links/0000:41:00.0/0000:00:04.0"));
}

TEST(CpuInfoTest, DescribesTheProcessorOfTheMachine) {
  const std::string text =
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
      "model name\t: Xeon\nflags\t\t: avx2\n\n";
  const topology::CpuModel amd{"x86_64", "AuthenticAMD", 25, 1, ""};
  EXPECT_EQ(CpuInfoOf(text, amd),
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
            "model name\t: AuthenticAMD family 25 model 1\nflags\t\t: avx2\n\n");
  EXPECT_EQ(CpuInfoOf(text, {"x86_64", "GenuineIntel", 6, 85, ""}), "");
  EXPECT_EQ(CpuInfoOf(text, {"arm64", "0x41", 8, 0xd4f, ""}), "");
  EXPECT_EQ(CpuInfoOf("processor : 0\nCPU implementer : 0x41\n", amd), "");
}

TEST(ComputerSysTest, ReadsTheFilesOfTheComputer) {
  os::TempTree files;
  files.Directory("sys/bus/pci/devices/0000:00:03.0").Directory("sys/class/net/eth0");
  files.Write("proc/cpuinfo", "vendor_id : X\n").Write("proc/meminfo", "MemTotal:  2048 kB\n");
  const ComputerSys computer = ReadComputerSys(os::FileTree::Open(files.root()).value());
  EXPECT_EQ(computer.functions.count(topology::BusId::Parse("0000:00:03.0").value()), 1u);
  EXPECT_EQ(computer.interfaces.count("eth0"), 1u);
  EXPECT_EQ(computer.cpu_info, "vendor_id : X\n");
  EXPECT_EQ(computer.memory_kib, 2048u);
}

}  // namespace
}  // namespace ringlet::testbed
