#include "discovery/devices.hpp"

#include <gmock/gmock.h>

#include "discovery/pci_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using os::TempTree;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using topology::BusId;
using topology::CpuSet;
using topology::GpuLinkKind;
using topology::HostView;
using topology::NetInterface;
using topology::NetKind;
using topology::NvlinkFabric;
using topology::Part;
using topology::PartKind;
using topology::PciClass;
using topology::PcieSpeed;

class DevicesTest : public testing::Test {
 protected:
  DevicesTest() { Reset(); }
  void Reset() {
    view_ = {};
    view_.numa_nodes = {{0, CpuSet::Of(0, 7), 0, {10, 21}}, {1, CpuSet::Of(8, 15), 0, {21, 10}}};
  }
  /// The path of a function below its own root port.
  static std::string Path(const std::string& bus) { return "pci0000:00/0000:00:01.0/" + bus; }
  void WriteGpu(const std::string& bus, const std::string& vendor = "0x10de") {
    WriteFunction(tree_, Path(bus),
                  {.device_class = "0x030200",
                   .vendor = vendor,
                   .max_speed = "32.0 GT/s PCIe",
                   .max_width = "16",
                   .numa = "1"});
  }
  void WriteNic(const std::string& bus, const std::string& interface) {
    WriteFunction(tree_, Path(bus), {.device_class = "0x020000", .vendor = "0x15b3", .numa = "0"});
    if (interface.empty()) return;
    const std::string folder = "sys/devices/" + Path(bus) + "/net/" + interface;
    tree_.Write(folder + "/speed", "25000\n").Link(folder + "/device", "../../../" + bus);
    tree_.Link("sys/class/net/" + interface, "../../devices/" + Path(bus) + "/net/" + interface);
  }
  void WriteRdma(const std::string& bus, const std::string& device, const std::string& interface) {
    const std::string folder = "sys/devices/" + Path(bus) + "/infiniband/" + device;
    tree_.Link("sys/class/infiniband/" + device,
               "../../devices/" + Path(bus) + "/infiniband/" + device);
    tree_.Link(folder + "/device", "../../../" + bus);
    tree_.Write(folder + "/sys_image_guid", "0011:7500:0077:d5fe\n");
    tree_.Write(folder + "/ports/1/state", "4: ACTIVE\n");
    tree_.Write(folder + "/ports/1/rate", "200 Gb/sec (4X HDR)\n");
    if (!interface.empty()) tree_.Write(folder + "/ports/1/gid_attrs/ndevs/0", interface + "\n");
  }
  const HostView& Look(const std::optional<GpuReport>& gpus = {}, std::string_view rule = "") {
    Reset();
    missing_.clear();
    AddDevices(sysfs_, os::NameRule::Parse(rule).value(), ListPci(sysfs_), gpus, view_);
    const Status good = view_.Check();
    EXPECT_TRUE(good.ok()) << good.error().message;
    return view_;
  }
  /// Entries such as "eth0 at 0000:03:00.0".
  std::vector<std::string> Nets() const {
    std::vector<std::string> lines;
    for (const NetInterface& net : view_.nets) {
      std::string line = net.name;
      if (net.nic) line += " at " + ToString(view_.pci[view_.nics[*net.nic].parent.index].bus);
      lines.push_back(line);
    }
    return lines;
  }

  TempTree tree_;
  std::vector<std::string> missing_;
  FileTree files_ = FileTree::Open(tree_.root()).value();
  Sysfs sysfs_{files_, missing_};
  HostView view_;
};

TEST_F(DevicesTest, ADriverCompletesTheFactsOfTheKernel) {
  WriteGpu("0000:07:00.0");
  WriteGpu("0000:0f:00.0");
  WriteFunction(tree_, Path("0000:c5:00.0"), {.device_class = "0x068000", .vendor = "0x10de"});
  GpuReading first{.index = 1, .bus = BusId{0x7000}, .name = "NVIDIA X MLOPart1"};
  first.compute_capability = 100;
  first.pcie_generation = 6;
  first.pcie_width = 8;
  first.links = {{GpuLinkKind::kNvLink, BusId{0xf000}, 2, {}},
                 {GpuLinkKind::kNvLink, BusId{0xc5000}, 4, {}},
                 {GpuLinkKind::kNvLink, BusId{0xff000}, 1, {}},
                 {GpuLinkKind::kNvLink, {}, 3, {}}};
  first.c2c = {{44'712, 10}};
  first.fabric = NvlinkFabric{{1, 2}, 3};
  GpuReading second{.index = 0, .bus = BusId{0xf000}};
  Look(GpuReport{.driver = "1", .gpus = {second, first}});
  ASSERT_EQ(view_.gpus.size(), 2u);
  const topology::Gpu& gpu = view_.gpus[0];
  EXPECT_EQ(view_.pci[gpu.pci].bus, BusId{0x7000});
  EXPECT_EQ(view_.pci[gpu.pci].link_speed, PcieSpeed::Of(6));
  EXPECT_EQ(view_.pci[gpu.pci].link_width, 8);
  EXPECT_EQ(gpu.dev, 1u);
  EXPECT_EQ(gpu.compute_capability, 100u);
  EXPECT_EQ(gpu.mlopart, 1u);
  EXPECT_EQ(gpu.c2c, first.c2c);
  EXPECT_EQ(gpu.fabric, first.fabric);
  EXPECT_EQ(gpu.links[0].target_class, PciClass{0x030200});
  for (const std::size_t i : {1u, 2u, 3u}) EXPECT_EQ(gpu.links[i].target_class, PciClass{0x068000});
  EXPECT_EQ(view_.pci[view_.gpus[1].pci].link_speed, PcieSpeed::Of(5));
  EXPECT_EQ(view_.pci[view_.gpus[1].pci].link_width, 16);
  EXPECT_THAT(missing_, Not(Contains(HasSubstr("driver"))));
}

TEST_F(DevicesTest, GpusAreFoundByPciClassWithoutADriver) {
  WriteGpu("0000:0f:00.0", "0x1002");
  WriteGpu("0000:07:00.0");
  WriteFunction(tree_, Path("0000:20:00.0"), {.device_class = "0x030000", .vendor = "0x1a03"});
  Look();
  ASSERT_EQ(view_.gpus.size(), 2u);
  EXPECT_EQ(view_.gpus[0].dev, 0u);
  EXPECT_EQ(view_.pci[view_.gpus[0].pci].bus, BusId{0x7000});
  EXPECT_EQ(view_.gpus[1].dev, 1u);
  EXPECT_EQ(view_.pci.size(), 2u);
  EXPECT_THAT(missing_, Contains(HasSubstr("no driver lists the GPUs")));
}

TEST_F(DevicesTest, AGpuThatTheDriverOmitsIsSkippedAndReported) {
  WriteGpu("0000:07:00.0");
  WriteGpu("0000:0f:00.0");
  Look(GpuReport{.driver = "1", .gpus = {{.index = 0, .bus = BusId{0xf000}}}});
  EXPECT_EQ(view_.gpus.size(), 1u);
  EXPECT_THAT(missing_, Contains(HasSubstr("0000:07:00.0 is a GPU that its driver does not list")));
}

TEST_F(DevicesTest, AGpuThatOnlyTheDriverListsIsIncluded) {
  WriteNic("0000:03:00.0", "eth0");
  Look(GpuReport{
      .driver = "1",
      .gpus = {
          {.index = 0, .bus = BusId{0x7000}, .ids = {.vendor = 0x10de}, .pcie_generation = 5}}});
  ASSERT_EQ(view_.gpus.size(), 1u);
  const topology::PciDevice& device = view_.pci[view_.gpus[0].pci];
  EXPECT_EQ(device.device_class, PciClass{0x030000});
  EXPECT_EQ(device.ids.vendor, 0x10de);
  EXPECT_EQ(view_.numa_nodes[device.parent.index].id, topology::kUnknownNuma);
}

TEST_F(DevicesTest, FunctionsOfACardFormASingleNic) {
  WriteNic("0000:03:00.0", "eth0");
  WriteNic("0000:03:00.1", "eth1");
  WriteNic("0000:04:00.0", "");
  Look();
  EXPECT_THAT(Nets(), ElementsAre("eth0 at 0000:03:00.0", "eth1 at 0000:03:00.0"));
  EXPECT_EQ(view_.nics.size(), 1u);
  EXPECT_EQ(view_.pci.size(), 2u);  // includes a card without an interface
  EXPECT_EQ(view_.nets[1].dev, 1u);
  EXPECT_EQ(view_.nets[1].numa, 0u);
  EXPECT_EQ(view_.nets[1].speed_mbit_per_s, 25'000u);
}

TEST_F(DevicesTest, VirtualFunctionsMapToThePhysicalFunction) {
  WriteNic("0000:03:00.0", "");
  WriteNic("0000:03:02.1", "eth1");
  WriteNic("0000:03:02.2", "");
  for (const char* bus : {"0000:03:02.1", "0000:03:02.2"})
    tree_.Link("sys/devices/" + Path(bus) + "/physfn", "../0000:03:00.0");
  Look();
  EXPECT_THAT(Nets(), ElementsAre("eth1 at 0000:03:00.0"));
  EXPECT_EQ(view_.pci.size(), 1u);
}

TEST_F(DevicesTest, ABondIsPlacedAtTheCardOfItsMembers) {
  WriteNic("0000:03:00.0", "eth0");
  WriteNic("0000:03:00.1", "eth1");
  tree_.Write("sys/devices/virtual/net/bond0/uevent", "DEVTYPE=bond\n");
  tree_.Link("sys/class/net/bond0", "../../devices/virtual/net/bond0");
  for (const char* name : {"eth0", "eth1"}) {
    const std::string bus = std::string(name) == "eth0" ? "0000:03:00.0" : "0000:03:00.1";
    tree_.Link("sys/devices/" + Path(bus) + "/net/" + name + "/master", "/x/bond0");
    tree_.Directory("sys/devices/virtual/net/bond0/lower_" + std::string(name));
  }
  Look();
  EXPECT_THAT(Nets(), ElementsAre("bond0 at 0000:03:00.0"));
  EXPECT_EQ(view_.nets[0].kind, NetKind::kBond);
  EXPECT_THAT(view_.nets[0].members, ElementsAre("eth0", "eth1"));
}

TEST_F(DevicesTest, AnInterfaceAndItsRdmaPortFormASingleEntry) {
  WriteNic("0000:03:00.0", "eth0");
  WriteNic("0000:03:00.1", "eth1");
  WriteRdma("0000:03:00.0", "mlx5_0", "eth0");
  WriteRdma("0000:03:00.1", "mlx5_1", "");
  tree_.Write("sys/module/nvidia_peermem/version", "1\n");
  tree_.Write("sys/devices/" + Path("0000:03:00.1") + "/net/eth1/speed", "-1\n");
  Look();
  EXPECT_THAT(Nets(), ElementsAre("eth0 at 0000:03:00.0", "eth1 at 0000:03:00.0"));
  EXPECT_EQ(view_.nets[0].rdma_device, "mlx5_0");
  EXPECT_EQ(view_.nets[0].guid, 0xfed5770000751100u);
  EXPECT_EQ(view_.nets[0].port, 1u);
  EXPECT_EQ(view_.nets[0].gdr, true);
  EXPECT_EQ(view_.nets[1].rdma_device, "mlx5_1");
  EXPECT_EQ(view_.nets[1].port, 2u);  // number on the card
  EXPECT_EQ(view_.nets[1].speed_mbit_per_s, 200'000u);
}

TEST_F(DevicesTest, AnRdmaPortWithoutAnInterfaceHasItsOwnEntry) {
  WriteNic("0000:03:00.0", "eth0");
  WriteFunction(tree_, Path("0000:43:00.0"), {.device_class = "0x0c0600", .numa = "1"});
  WriteRdma("0000:43:00.0", "qib0", "");
  WriteFunction(tree_, Path("0000:44:00.0"), {.device_class = "0x020700", .numa = "1"});
  WriteRdma("0000:44:00.0", "mlx5_9", "");
  tree_.Write("sys/devices/" + Path("0000:44:00.0") + "/infiniband/mlx5_9/ports/1/state",
              "1: DOWN\n");
  Look();
  EXPECT_THAT(Nets(), ElementsAre("eth0 at 0000:03:00.0", "qib0 at 0000:43:00.0"));
  EXPECT_EQ(view_.nets[0].gdr, false) << "without RDMA there is no GPUDirect RDMA";
  EXPECT_EQ(view_.nets[1].numa, 1u);
  EXPECT_EQ(view_.nets[1].speed_mbit_per_s, 200'000u);
  EXPECT_EQ(view_.nets[1].gdr, std::nullopt);
  EXPECT_THAT(missing_, Contains(HasSubstr("mlx5_9 is not active")));
}

TEST_F(DevicesTest, AnExcludedInterfaceExcludesItsRdmaPort) {
  WriteNic("0000:03:00.0", "eth0");
  WriteNic("0000:04:00.0", "eth1");
  WriteRdma("0000:04:00.0", "mlx5_1", "eth1");
  Look({}, "^eth1");
  EXPECT_THAT(Nets(), ElementsAre("eth0 at 0000:03:00.0"));
  // An inactive interface does not make its port unusable.
  tree_.Write("sys/devices/" + Path("0000:04:00.0") + "/net/eth1/operstate", "down\n");
  Look();
  EXPECT_THAT(Nets(), ElementsAre("eth0 at 0000:03:00.0", "mlx5_1 at 0000:04:00.0"));
}

TEST_F(DevicesTest, PortsOfBondMembersAreOmitted) {
  WriteNic("0000:03:00.0", "eth0");
  WriteRdma("0000:03:00.0", "mlx5_0", "eth0");
  tree_.Write("sys/devices/virtual/net/bond0/uevent", "DEVTYPE=bond\n");
  tree_.Directory("sys/devices/virtual/net/bond0/lower_eth0");
  tree_.Link("sys/class/net/bond0", "../../devices/virtual/net/bond0");
  tree_.Link("sys/devices/" + Path("0000:03:00.0") + "/net/eth0/master", "/x/bond0");
  Look();
  EXPECT_THAT(Nets(), ElementsAre("bond0 at 0000:03:00.0"));
}

TEST_F(DevicesTest, AMachineWithoutDevicesIsReadWithoutAnError) {
  Look();
  EXPECT_THAT(view_.pci, IsEmpty());
  EXPECT_THAT(view_.nets, IsEmpty());
  EXPECT_EQ(view_.numa_nodes.size(), 2u);
  EXPECT_THAT(missing_, Contains(HasSubstr("no PCI functions are known")));
}

TEST_F(DevicesTest, GpusOfOtherVendorsAreNumberedAfterTheDriversGpus) {
  WriteGpu("0000:07:00.0");
  WriteGpu("0000:0f:00.0", "0x1002");
  Look(GpuReport{.driver = "1", .gpus = {{.index = 4, .bus = BusId{0x7000}}}});
  ASSERT_EQ(view_.gpus.size(), 2u);
  EXPECT_EQ(view_.gpus[0].dev, 4u);
  EXPECT_EQ(view_.gpus[1].dev, 5u);
}

TEST_F(DevicesTest, ASinglePcieLaneIsKept) {
  WriteGpu("0000:07:00.0");
  Look(GpuReport{
      .driver = "1",
      .gpus = {{.index = 0, .bus = BusId{0x7000}, .pcie_generation = 1, .pcie_width = 1}}});
  EXPECT_EQ(view_.pci[view_.gpus[0].pci].link_width, 1);
  EXPECT_EQ(view_.pci[view_.gpus[0].pci].link_speed, PcieSpeed::Of(1));
}

TEST_F(DevicesTest, AnUnusedCardIsListed) {
  WriteNic("0000:03:00.0", "");
  Look();
  ASSERT_EQ(view_.pci.size(), 1u);
  EXPECT_EQ(view_.pci[0].bus, BusId{0x3000});
  EXPECT_THAT(view_.nics, IsEmpty());
}

TEST_F(DevicesTest, APortWithoutARateIsKeptAndReported) {
  WriteFunction(tree_, Path("0000:43:00.0"), {.device_class = "0x020700", .numa = "1"});
  WriteRdma("0000:43:00.0", "mlx5_0", "");
  tree_.Write("sys/devices/" + Path("0000:43:00.0") + "/infiniband/mlx5_0/ports/1/rate", "?\n");
  Look();
  EXPECT_THAT(Nets(), ElementsAre("mlx5_0 at 0000:43:00.0"));
  EXPECT_EQ(view_.nets[0].kind, NetKind::kPhysical);
  EXPECT_EQ(view_.nets[0].speed_mbit_per_s, std::nullopt);
  EXPECT_THAT(missing_, Contains(HasSubstr("the rate of RDMA device mlx5_0 is unknown")));
}

TEST_F(DevicesTest, AnInterfaceHasTheNumaNodeOfItsCard) {
  WriteFunction(tree_, Path("0000:03:00.0"),
                {.device_class = "0x020000", .numa = "-1", .local_cpus = "ff00"});
  const std::string folder = "sys/devices/" + Path("0000:03:00.0") + "/net/eth0";
  tree_.Write(folder + "/speed", "25000\n").Link(folder + "/device", "../../../0000:03:00.0");
  tree_.Link("sys/class/net/eth0", "../../devices/" + Path("0000:03:00.0") + "/net/eth0");
  Look();
  EXPECT_THAT(Nets(), ElementsAre("eth0 at 0000:03:00.0"));
  EXPECT_EQ(view_.nets[0].numa, 1u) << "as the CPUs near it tell";
}

}  // namespace
}  // namespace ringlet::discovery
