#include "discovery/nets.hpp"

#include <gmock/gmock.h>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using os::NameRule;
using os::TempTree;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using topology::BusId;
using topology::NetKind;

class NetsTest : public testing::Test {
 protected:
  /// Adds an interface of the PCI function at `path` ("pci0000:00/0000:00:03.0"), or a virtual one.
  void Add(const std::string& name, const std::string& path, const std::string& state = "up") {
    const std::string device = path.empty() ? "virtual" : path;
    const std::string folder = "sys/devices/" + device + "/net/" + name;
    tree_.Write(folder + "/operstate", state + "\n");
    tree_.Write(folder + "/uevent", "INTERFACE=" + name + "\n");
    if (!path.empty())
      tree_.Link(folder + "/device", "../../../" + path.substr(path.rfind('/') + 1));
    tree_.Link("sys/class/net/" + name, "../../devices/" + device + "/net/" + name);
  }
  void Type(const std::string& name, const std::string& type) {
    tree_.Write("sys/devices/virtual/net/" + name + "/uevent", "DEVTYPE=" + type + "\n");
  }
  void Enslave(const std::string& member, const std::string& path, const std::string& master) {
    tree_.Link("sys/devices/" + path + "/net/" + member + "/master",
               "../../../../virtual/net/" + master);
    tree_.Link("sys/devices/virtual/net/" + master + "/lower_" + member, "somewhere");
  }
  std::vector<InterfaceFacts> Read() { return ReadInterfaces(sysfs_); }
  std::vector<std::string> Chosen(std::string_view rule = "") {
    std::vector<std::string> names;
    for (const auto& one : Choose(Read(), NameRule::Parse(rule).value(), sysfs_))
      names.push_back(one.name);
    return names;
  }

  TempTree tree_;
  std::vector<std::string> missing_;
  FileTree files_ = FileTree::Open(tree_.root()).value();
  Sysfs sysfs_{files_, missing_};
};

TEST_F(NetsTest, AnInterfaceIsReadWithItsPciFunction) {
  Add("eth1", "pci0000:17/0000:17:00.0/0000:18:00.1");
  const std::string device = "sys/devices/pci0000:17/0000:17:00.0/0000:18:00.1";
  tree_.Write(device + "/numa_node", "1\n").Write(device + "/net/eth1/speed", "25000\n");
  tree_.Write(device + "/net/eth1/dev_port", "2\n");
  const std::vector<InterfaceFacts> all = Read();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, NetKind::kPhysical);
  EXPECT_EQ(all[0].function, BusId{0x18001});
  EXPECT_EQ(all[0].speed_mbit_per_s, 25'000u);
  EXPECT_EQ(all[0].numa, 1u);
  EXPECT_EQ(all[0].device_port, 2u);
}

TEST_F(NetsTest, AVirtioInterfaceHasTheFunctionAboveIt) {
  Add("eth0", "pci0000:00/0000:00:03.0/virtio0");
  EXPECT_EQ(Read()[0].function, BusId{0x30});
  EXPECT_EQ(Read()[0].kind, NetKind::kPhysical);
}

TEST_F(NetsTest, RecognizesKindsOfVirtualInterfaces) {
  for (const char* name : {"bond0", "br0", "eth0.7", "tun0"}) Add(name, "");
  Type("bond0", "bond");
  Type("br0", "bridge");
  Type("eth0.7", "vlan");
  tree_.Directory("sys/devices/virtual/net/tun0/lower_eth0");
  const std::vector<InterfaceFacts> all = Read();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].kind, NetKind::kBond);
  EXPECT_EQ(all[1].kind, NetKind::kBridge);
  EXPECT_EQ(all[2].kind, NetKind::kVlan);
  EXPECT_EQ(all[3].kind, NetKind::kVirtual);
  EXPECT_THAT(all[3].members, ElementsAre("eth0"));
}

TEST_F(NetsTest, ABondReplacesItsMembers) {
  for (const char* name : {"eth0", "eth1", "eth2"}) Add(name, "pci0000:00/0000:00:03.0");
  Add("bond0", "");
  Type("bond0", "bond");
  Enslave("eth0", "pci0000:00/0000:00:03.0", "bond0");
  Enslave("eth1", "pci0000:00/0000:00:03.0", "bond0");
  EXPECT_THAT(Chosen(), ElementsAre("bond0", "eth2"));
  EXPECT_THAT(Read()[0].members, ElementsAre("eth0", "eth1"));
}

TEST_F(NetsTest, AMemberOfABridgeIsUsedItself) {
  Add("eth0", "pci0000:00/0000:00:03.0");
  Add("br0", "");
  Type("br0", "bridge");
  Enslave("eth0", "pci0000:00/0000:00:03.0", "br0");
  EXPECT_THAT(Chosen(), ElementsAre("eth0"));
}

TEST_F(NetsTest, VirtualInterfacesWithoutHardwareAreSkipped) {
  for (const char* name : {"lo", "docker0", "veth1", "cali12", "cilium_host", "flannel.1", "br0",
                           "vpn0", "bond0", "slave0", "eth0"})
    Add(name, "");
  Type("br0", "bridge");
  Type("bond0", "bond");
  tree_.Write("sys/devices/virtual/net/vpn0/type", "65534\n");
  tree_.Write("sys/devices/virtual/net/eth0/type", "1\n");
  tree_.Link("sys/devices/virtual/net/slave0/master", "../bond0");
  EXPECT_THAT(Chosen(), ElementsAre("bond0", "eth0"));
  EXPECT_THAT(Chosen("=vpn0,br0"), ElementsAre("br0", "vpn0"));
}

TEST_F(NetsTest, InterfacesThatAreDownAreSkippedAndReported) {
  Add("eth0", "pci0000:00/0000:00:03.0", "down");
  Add("eth1", "pci0000:00/0000:00:04.0", "up");
  EXPECT_THAT(Chosen(), ElementsAre("eth1"));
  EXPECT_THAT(missing_, ElementsAre(HasSubstr("eth0 is down")));
}

TEST_F(NetsTest, AnIncludingRuleSelectsAnyKindAndAnExcludingRuleFilters) {
  Add("eth0", "pci0000:00/0000:00:03.0");
  Add("eth1", "pci0000:00/0000:00:04.0");
  Add("docker0", "");
  Add("tun0", "", "down");
  Add("lo", "", "unknown");
  EXPECT_THAT(Chosen(), ElementsAre("eth0", "eth1"));
  EXPECT_THAT(Chosen("^eth0"), ElementsAre("eth1"));
  EXPECT_THAT(Chosen("docker"), ElementsAre("docker0"));
  EXPECT_THAT(Chosen("=eth1,tun0"), ElementsAre("eth1"));
  EXPECT_THAT(Chosen("=lo"), ElementsAre("lo"));
  EXPECT_THAT(Chosen("=eth"), IsEmpty());
}

class RdmaTest : public NetsTest {
 protected:
  void AddRdma(const std::string& device, const std::string& path, const std::string& state) {
    const std::string folder = "sys/devices/" + path + "/infiniband/" + device;
    tree_.Link("sys/class/infiniband/" + device, "../../devices/" + path + "/infiniband/" + device);
    tree_.Link(folder + "/device", "../../../" + path.substr(path.rfind('/') + 1));
    tree_.Write(folder + "/sys_image_guid", "0011:7500:0077:d5fe\n");
    tree_.Write(folder + "/ports/1/state", state + "\n");
    tree_.Write(folder + "/ports/1/rate", "200 Gb/sec (4X HDR)\n");
  }
};

TEST_F(RdmaTest, PortsHaveTheirFunctionNumaNodeAndInterface) {
  const std::string path = "pci0000:40/0000:40:03.0/0000:43:00.0";
  AddRdma("mlx5_0", path, "4: ACTIVE");
  tree_.Write("sys/devices/" + path + "/numa_node", "2\n");
  tree_.Write("sys/devices/" + path + "/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "ib0\n");
  tree_.Write("sys/devices/" + path + "/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
  for (const char* odd : {"odd", "0", "257", "-1"})
    tree_.Directory("sys/devices/" + path + "/infiniband/mlx5_0/ports/" + odd);
  const std::vector<RdmaPort> ports = ReadRdmaPorts(sysfs_);
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0].device, "mlx5_0");
  EXPECT_EQ(ports[0].port, 1u);
  EXPECT_TRUE(ports[0].active);
  EXPECT_EQ(ports[0].speed_mbit_per_s, 200'000u);
  EXPECT_EQ(ports[0].guid, 0xfed5770000751100u);
  EXPECT_EQ(ports[0].function, BusId{0x43000});
  EXPECT_EQ(ports[0].numa, 2u);
  EXPECT_EQ(ports[0].interface, "ib0");
  EXPECT_EQ(ports[1].port, 2u);
  EXPECT_FALSE(ports[1].active);
  EXPECT_EQ(ports[1].interface, "");
}

TEST_F(RdmaTest, FindsNoPortOnAMachineWithoutRdma) {
  EXPECT_THAT(ReadRdmaPorts(sysfs_), IsEmpty());
  EXPECT_THAT(missing_, IsEmpty());
  EXPECT_FALSE(HasPeerMemory(sysfs_));
  tree_.Write("sys/module/nvidia_peermem/version", "1\n");
  EXPECT_TRUE(HasPeerMemory(sysfs_));
}

TEST_F(RdmaTest, ADeviceWithoutPortsIsReported) {
  tree_.Directory("sys/class/infiniband/odd_0");
  EXPECT_THAT(ReadRdmaPorts(sysfs_), IsEmpty());
  EXPECT_THAT(missing_, ElementsAre(HasSubstr("odd_0")));
}

}  // namespace
}  // namespace ringlet::discovery
