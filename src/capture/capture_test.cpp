#include "capture/capture.hpp"

#include <gmock/gmock.h>

#include "discovery/pci_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using os::TempTree;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

void Unpack(const std::vector<TarEntry>& entries, TempTree& tree) {
  for (const TarEntry& entry : entries) {
    switch (entry.kind) {
      case TarEntry::Kind::kFile: tree.Write(entry.path, entry.content); break;
      case TarEntry::Kind::kFolder: tree.Directory(entry.path); break;
      case TarEntry::Kind::kLink: tree.Link(entry.path, entry.content); break;
    }
  }
}

/// A machine with one of everything, and with content that must not be captured.
void WriteEverything(TempTree& tree) {
  tree.Write("proc/cpuinfo",
             "processor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\n"
             "model : 1\nmodel name : EPYC\nSerial : SECRET\n");
  const std::string node = "sys/devices/system/node/";
  tree.Write(node + "online", "0-1\n");
  for (const char* id : {"0", "1"}) {
    const std::string folder = node + "node" + id + "/";
    tree.Write(folder + "cpulist", *id == '0' ? "0-3\n" : "4-7\n");
    tree.Write(folder + "distance", *id == '0' ? "10 32\n" : "32 10\n");
    tree.Write(folder + "meminfo", "Node 0 MemTotal: 1000 kB\nNode 0 MemFree: 1 kB\n");
  }
  const std::string root = "pci0000:17/0000:17:00.0";
  WriteFunction(tree, root, {.max_speed = "16.0 GT/s PCIe", .max_width = "16", .numa = "1"});
  WriteFunction(tree, root + "/0000:18:00.0", {.vendor = "0x1000", .numa = "1"});
  WriteFunction(tree, root + "/0000:18:00.0/0000:19:00.0", {.numa = "1"});
  const std::string nic = root + "/0000:18:00.0/0000:19:00.0/0000:1a:00.0";
  WriteFunction(tree, nic, {.device_class = "0x020000", .vendor = "0x15b3", .numa = "1"});
  WriteFunction(tree, root + "/0000:18:00.0/0000:19:00.0/0000:1a:00.1",
                {.device_class = "0x020000", .numa = "1"});
  WriteFunction(tree, root + "/0000:1b:00.0",
                {.device_class = "0x030200", .vendor = "0x10de", .local_cpus = "f0"});
  tree.Write("sys/kernel/pci_switch_link/virtual_switch_links/0000:18:00.0/0000:1b:00.0", "");
  const std::string net = "sys/devices/" + nic + "/net/eth0";
  tree.Write(net + "/speed", "100000\n").Write(net + "/operstate", "up\n");
  tree.Write(net + "/address", "SECRET\n").Link(net + "/device", "../../../0000:1a:00.0");
  tree.Link(net + "/master", "../../../../../../../virtual/net/bond0");
  tree.Link("sys/class/net/eth0", "../../devices/" + nic + "/net/eth0");
  const std::string bond = "sys/devices/virtual/net/bond0";
  tree.Write(bond + "/uevent", "DEVTYPE=bond\nINTERFACE=bond0\n")
      .Write(bond + "/speed", "100000\n");
  tree.Write(bond + "/address", "SECRET\n").Link(bond + "/lower_eth0", "../../../x");
  tree.Link("sys/class/net/bond0", "../../devices/virtual/net/bond0");
  tree.Write("sys/class/net/bonding_masters", "bond0\n");
  const std::string rdma = "sys/devices/" + nic + "/infiniband/mlx5_0";
  tree.Write(rdma + "/sys_image_guid", "0011:7500:0077:d5fe\n");
  tree.Write(rdma + "/node_guid", "SECRET\n").Link(rdma + "/device", "../../../0000:1a:00.0");
  tree.Write(rdma + "/ports/1/state", "4: ACTIVE\n").Write(rdma + "/ports/1/gids/0", "SECRET\n");
  tree.Write(rdma + "/ports/1/rate", "100 Gb/sec (4X EDR)\n");
  tree.Write(rdma + "/ports/1/gid_attrs/ndevs/0", "bond0\n");
  tree.Link("sys/class/infiniband/mlx5_0", "../../devices/" + nic + "/infiniband/mlx5_0");
  tree.Write("sys/module/nvidia_peermem/version", "1\n");
}

class Driver : public GpuSource {
 public:
  Result<GpuReport> Read() override {
    GpuReading gpu{.index = 5, .bus = topology::BusId{0x1b000}, .name = "NVIDIA"};
    gpu.compute_capability = 90;
    gpu.links = {{.target = {}, .count = 18}};
    return GpuReport{.driver = "580", .gpus = {gpu}};
  }
};

TEST(CaptureTest, AScanOfTheCaptureGivesTheSameView) {
  TempTree machine;
  WriteEverything(machine);
  Driver driver;
  FileTree files = FileTree::Open(machine.root()).value();
  const Capture capture = CaptureHost(files, {.host_name = "x", .gpus = &driver}).value();
  EXPECT_EQ(capture.scan.view.gpus.size(), 1u);
  EXPECT_EQ(capture.scan.view.nets.size(), 1u);

  TempTree copy;
  Unpack(capture.entries, copy);
  HostScan again = Scan(FileTree::Open(copy.root()).value(), {.host_name = "x"}).value();
  EXPECT_EQ(again.view.nets[0].guid, std::uint64_t{1} << 56);
  again.view.nets[0].guid = 0xfed5770000751100;
  EXPECT_EQ(again.view, capture.scan.view) << ToXml(again.view) << ToXml(capture.scan.view);
  EXPECT_EQ(again.missing.size(), capture.scan.missing.size());
}

TEST(CaptureTest, ACaptureOfAnUnpackedCaptureHasTheSameEntries) {
  TempTree machine;
  WriteEverything(machine);
  FileTree files = FileTree::Open(machine.root()).value();
  const Capture first = CaptureHost(files, {.host_name = "x"}).value();
  TempTree copy;
  Unpack(first.entries, copy);
  FileTree copied = FileTree::Open(copy.root()).value();
  EXPECT_EQ(CaptureHost(copied, {.host_name = "x"}).value().entries, first.entries);
}

TEST(CaptureTest, TheArchiveOmitsUnreadFilesAndSecrets) {
  TempTree machine;
  WriteEverything(machine);
  FileTree files = FileTree::Open(machine.root()).value();
  const Capture capture = CaptureHost(files, {.host_name = "secret-host"}).value();
  const std::string tar = ToTar(capture.entries);
  for (const char* secret : {"SECRET", "secret-host", "0011:7500", "MemFree", "INTERFACE"})
    EXPECT_EQ(tar.find(secret), std::string::npos) << secret;
  EXPECT_THAT(tar, HasSubstr("sys/bus/pci/devices/0000:1a:00.0"));
}

TEST(CaptureTest, AFailedCaptureRemovesItsWatcher) {
  TempTree machine;
  FileTree files = FileTree::Open(machine.root()).value();
  EXPECT_FALSE(CaptureHost(files, {.host_name = "x"}).ok());
  EXPECT_FALSE(files.Exists("x"));  // would call it
}

TEST(CaptureTest, TheArchiveKeepsFoldersThatTheScanOnlyTests) {
  TempTree machine;
  machine.Directory("sys/devices/system");
  FileTree files = FileTree::Open(machine.root()).value();
  const Capture capture = CaptureHost(files, {.host_name = "x"}).value();
  TempTree copy;
  Unpack(capture.entries, copy);
  EXPECT_TRUE(Scan(FileTree::Open(copy.root()).value(), {.host_name = "x"}).ok());
}

}  // namespace
}  // namespace ringlet::discovery
