#include "discovery/scan.hpp"

#include <gmock/gmock.h>

#include "discovery/pci_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using os::TempTree;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

HostScan ScanOf(const TempTree& tree) {
  return Scan(FileTree::Open(tree.root()).value(), {.host_name = "node-a", .identity = 1}).value();
}

/// Two sockets with one interface each, and the other files of a real machine.
void WriteTwoSockets(TempTree& tree) {
  tree.Write("proc/cpuinfo",
             "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
             "model name\t: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\n\n");
  tree.Write("proc/meminfo", "MemTotal:       196608000 kB\n");
  const std::string nodes = "sys/devices/system/node/";
  tree.Write(nodes + "online", "0-1\n").Write(nodes + "has_cpu", "0-1\n");
  tree.Write(nodes + "node1/cpulist", "16-31\n").Write(nodes + "node1/distance", "21 10\n");
  tree.Write(nodes + "node1/meminfo", "\nNode 1 MemTotal:       98304000 kB\n");
  tree.Write(nodes + "node0/cpulist", "0-15\n").Write(nodes + "node0/distance", "10 21\n");
  tree.Write(nodes + "node0/meminfo", "\nNode 0 MemTotal:       98304000 kB\n");
  for (const auto& [name, speed, numa] :
       {std::tuple("ib0", "100000\n", "1\n"), {"eth0", "-1\n", "-1\n"}}) {
    const std::string device = "sys/devices/pci0000:00/" + std::string(name);
    tree.Write(device + "/numa_node", numa).Write(device + "/net/" + name + "/speed", speed);
    tree.Link(device + "/net/" + name + "/device", "../../../" + std::string(name));
    tree.Link("sys/class/net/" + std::string(name),
              "../../devices/pci0000:00/" + std::string(name) + "/net/" + name);
  }
  tree.Write("sys/devices/virtual/net/lo/operstate", "unknown\n");
  tree.Link("sys/class/net/lo", "../../devices/virtual/net/lo");
  tree.Write("sys/devices/virtual/net/bond0/operstate", "up\n");
  tree.Link("sys/class/net/bond0", "../../devices/virtual/net/bond0");
  tree.Write("sys/class/net/bonding_masters", "bond0\n");
  tree.Directory("sys/bus/pci/devices");
}

TEST(ScanTest, TheMaskOfANodeReplacesAMissingCpuList) {
  TempTree tree;
  const std::string nodes = "sys/devices/system/node/";
  tree.Write(nodes + "node0/cpumap", "0000000f\n").Write(nodes + "node0/distance", "10 20\n");
  tree.Write(nodes + "node1/cpumap", "000000f0\n").Write(nodes + "node1/distance", "20 10\n");
  const HostScan scan = ScanOf(tree);
  ASSERT_EQ(scan.view.numa_nodes.size(), 2u);
  EXPECT_EQ(ToString(scan.view.numa_nodes[0].cpus), "0-3");
  EXPECT_EQ(ToString(scan.view.numa_nodes[1].cpus), "4-7");
  EXPECT_THAT(scan.missing, testing::Each(testing::Not(HasSubstr("cpulist"))));
}

TEST(ScanTest, IgnoresANulAfterACpuList) {
  TempTree tree;
  const std::string nodes = "sys/devices/system/node/";
  tree.Write(nodes + "node0/cpulist", std::string("0-3\n\0", 5));
  tree.Write(nodes + "node1/cpulist", std::string("4-7\n\0", 5));
  const HostScan scan = ScanOf(tree);
  ASSERT_EQ(scan.view.numa_nodes.size(), 2u);
  EXPECT_EQ(ToString(scan.view.numa_nodes[0].cpus), "0-3");
  EXPECT_EQ(ToString(scan.view.numa_nodes[1].cpus), "4-7");
}

TEST(ScanTest, ReadsATwoSocketMachine) {
  TempTree tree;
  WriteTwoSockets(tree);
  const HostScan scan = ScanOf(tree);
  const topology::HostView& view = scan.view;
  EXPECT_EQ(view.name, "node-a");
  EXPECT_EQ(view.identity, 1u);
  EXPECT_EQ(view.cpu, (topology::CpuModel{"x86_64", "GenuineIntel", 6, 85,
                                          "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"}));
  const auto node = [](std::uint32_t id, const char* cpus, std::vector<std::uint32_t> distances) {
    return topology::NumaNode{.id = id,
                              .cpus = topology::CpuSet::Parse(cpus).value(),
                              .memory_bytes = 100'663'296'000,
                              .distances = std::move(distances)};
  };
  EXPECT_THAT(view.numa_nodes,
              testing::ElementsAre(node(0, "0-15", {10, 21}), node(1, "16-31", {21, 10})));
  const auto net = [](const char* name, std::optional<std::uint32_t> speed,
                      std::optional<std::uint32_t> numa, std::uint32_t dev) {
    return topology::NetInterface{.name = name,
                                  .speed_mbit_per_s = speed,
                                  .numa = numa,
                                  .kind = topology::NetKind::kPhysical,
                                  .dev = dev,
                                  .gdr = false};
  };
  EXPECT_THAT(view.nets, testing::ElementsAre(net("eth0", std::nullopt, std::nullopt, 0),
                                              net("ib0", 100'000, 1, 1)));
  EXPECT_TRUE(view.pci.empty() && view.gpus.empty() && view.nics.empty());
  EXPECT_THAT(scan.missing, testing::ElementsAre(HasSubstr("/sys/class/net/eth0/speed")));
}

TEST(ScanTest, AScanWithoutDevicesReadsTheCpusOfASingleNode) {
  TempTree tree;
  tree.Write("sys/devices/system/node/node3/cpulist", "0-2,5\n");
  tree.Write("sys/devices/system/node/online", "3\n");
  const auto scan = Scan(os::FileTree::Open(tree.root()).value(),
                         {.host_name = "node-a", .identity = 1, .devices = false});
  ASSERT_TRUE(scan.ok()) << scan.error().message;
  ASSERT_EQ(scan->view.numa_nodes.size(), 1u);
  EXPECT_EQ(scan->view.numa_nodes[0].id, 3u);
  EXPECT_EQ(ToString(scan->view.numa_nodes[0].cpus), "0-2,5");
  EXPECT_TRUE(scan->view.Check().ok());
  EXPECT_THAT(scan->missing, IsEmpty()) << "nothing was asked for in vain";
}

TEST(ScanTest, AKnownSingleNodeIsNotReadAgain) {
  TempTree tree;
  tree.Write("sys/devices/system/node/node3/cpulist", "0-2,5\n");
  tree.Write("sys/devices/system/node/online", "3\n");
  os::FileTree files = os::FileTree::Open(tree.root()).value();
  const auto only = ReadOnlyNode(files);
  ASSERT_TRUE(only.has_value());
  int reads = 0;
  files.set_watcher([&](const os::FileTree::PathAccess&) { ++reads; });
  const auto scan =
      Scan(files, {.host_name = "node-a", .identity = 1, .devices = false, .only_node = only});
  ASSERT_TRUE(scan.ok()) << scan.error().message;
  EXPECT_EQ(scan->view.numa_nodes, std::vector{*only});
  EXPECT_EQ(reads, 0);
}

TEST(ScanTest, AScanWithoutDevicesReadsSeveralNodesCompletely) {
  TempTree tree;
  WriteTwoSockets(tree);
  const auto scan = Scan(os::FileTree::Open(tree.root()).value(),
                         {.host_name = "node-a", .identity = 1, .devices = false});
  EXPECT_FALSE(ReadOnlyNode(os::FileTree::Open(tree.root()).value()).has_value());
  ASSERT_TRUE(scan.ok()) << scan.error().message;
  EXPECT_EQ(scan->view.cpu.arch, "x86_64");
  EXPECT_EQ(scan->view.numa_nodes.size(), 2u);
  EXPECT_THAT(scan->view.nets, IsEmpty());
}

TEST(ScanTest, AHostWithoutNumaNodesIsASingleNode) {
  TempTree tree;
  tree.Write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n\nprocessor\t: 1\n");
  tree.Write("proc/meminfo", "MemTotal: 1024 kB\n").Write("sys/devices/system/cpu/online", "0-1\n");
  const HostScan scan = ScanOf(tree);
  ASSERT_EQ(scan.view.numa_nodes.size(), 1u);
  EXPECT_EQ(ToString(scan.view.numa_nodes[0].cpus), "0-1");
  EXPECT_EQ(scan.view.numa_nodes[0].memory_bytes, 1u << 20);
  EXPECT_EQ(scan.view.cpu.arch, "arm64");
  EXPECT_THAT(scan.missing, Contains(HasSubstr("counts as one NUMA node")));
}

TEST(ScanTest, CpusAreCountedIfNoListExists) {
  TempTree tree;
  tree.Write("proc/cpuinfo", "processor\t: 0\nprocessor\t: 1\nprocessor\t: 2\n");
  const HostScan scan = ScanOf(tree);
  EXPECT_EQ(ToString(scan.view.numa_nodes[0].cpus), "0-2");
  EXPECT_THAT(scan.missing, Contains(HasSubstr("the list of CPUs is missing")));
}

TEST(ScanTest, ABareTreeGivesAUsableViewAndReportsMissingFiles) {
  TempTree tree;
  tree.Directory("sys/devices/system");
  const HostScan scan = ScanOf(tree);
  EXPECT_TRUE(scan.view.Check().ok());
  EXPECT_EQ(scan.view.numa_nodes[0].cpus.Count(), 1u);
  for (const char* part : {"proc/cpuinfo", "devices/system/node", "proc/meminfo", "class/net"})
    EXPECT_THAT(scan.missing, Contains(HasSubstr(part))) << part;
}

TEST(ScanTest, BrokenFilesCountAsMissing) {
  TempTree tree;
  WriteTwoSockets(tree);
  tree.Write("sys/devices/system/node/node0/cpulist", "none");
  tree.Write("sys/devices/system/node/node1/distance", "10");
  tree.Write("sys/devices/system/node/node1/meminfo", "nothing");
  tree.Write("sys/devices/pci0000:00/ib0/numa_node", "7\n");
  const HostScan scan = ScanOf(tree);
  EXPECT_TRUE(scan.view.numa_nodes[0].cpus.empty());
  EXPECT_THAT(scan.view.numa_nodes[1].distances, IsEmpty());
  EXPECT_EQ(scan.view.nets[1].numa, std::nullopt);
  EXPECT_THAT(scan.missing, Contains(HasSubstr("node0/cpulist")));
  EXPECT_THAT(scan.missing, Contains(HasSubstr("NUMA node 1 has 1 distances")));
  EXPECT_EQ(scan.view.numa_nodes[1].memory_bytes, 0u);
  EXPECT_THAT(scan.missing, Contains(HasSubstr("node1/meminfo does not contain")));
}

TEST(ScanTest, VirtualInterfacesAreUsedOnlyWithoutPhysicalInterfaces) {
  TempTree tree;
  tree.Directory("sys/devices/system");
  for (const char* name : {"lo", "docker0", "veth12", "eth0", "ifb0"}) {
    const std::string state = std::string(name) == "ifb0" ? "down\n" : "up\n";
    tree.Write("sys/class/net/" + std::string(name) + "/operstate", state);
  }
  const HostScan scan = ScanOf(tree);
  ASSERT_EQ(scan.view.nets.size(), 1u);
  EXPECT_EQ(scan.view.nets[0].name, "eth0");
}

/// A driver with a given report.
class Source : public GpuSource {
 public:
  explicit Source(Result<GpuReport> report) : report_(std::move(report)) {}
  Result<GpuReport> Read() override {
    ++asked_;
    return report_;
  }
  int asked() const { return asked_; }

 private:
  Result<GpuReport> report_;
  int asked_ = 0;
};

TEST(ScanTest, ADriverIsQueriedOnlyIfAGpuMayExist) {
  TempTree tree;
  WriteTwoSockets(tree);
  Source none(Error{Code::kUnsupported, "cannot load the driver"});
  const FileTree files = FileTree::Open(tree.root()).value();
  WriteFunction(tree, "pci0000:00/0000:00:05.0", {.device_class = "0x020000"});
  WriteFunction(tree, "pci0000:00/0000:00:06.0", {.device_class = ""});
  ASSERT_TRUE(Scan(files, {.host_name = "", .gpus = &none}).ok());
  EXPECT_EQ(none.asked(), 0);
  tree.Write("dev/nvidiactl", "");
  ASSERT_TRUE(Scan(files, {.host_name = "", .gpus = &none}).ok());
  EXPECT_EQ(none.asked(), 1);
}

TEST(ScanTest, ADriverIsQueriedIfPciIsHidden) {
  TempTree tree;
  tree.Write("proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\n");
  Source none(Error{Code::kUnsupported, "cannot load the driver"});
  ASSERT_TRUE(Scan(FileTree::Open(tree.root()).value(), {.host_name = "", .gpus = &none}).ok());
  EXPECT_EQ(none.asked(), 1);
}

TEST(ScanTest, AMissingDriverIsReportedOnlyIfAGpuExists) {
  TempTree tree;
  WriteTwoSockets(tree);
  Source none(Error{Code::kUnsupported, "cannot load the driver"});
  const FileTree files = FileTree::Open(tree.root()).value();
  EXPECT_THAT(Scan(files, {.host_name = "", .gpus = &none}).value().missing,
              testing::Not(Contains(HasSubstr("driver"))));
  WriteFunction(tree, "pci0000:00/0000:00:05.0",
                {.device_class = "0x030200", .vendor = "0x10de", .numa = "1"});
  const HostScan scan = Scan(files, {.host_name = "", .gpus = &none}).value();
  EXPECT_THAT(scan.missing, Contains(HasSubstr("cannot load the driver")));
  EXPECT_EQ(scan.view.gpus.size(), 1u);
}

TEST(ScanTest, FactsUnknownToTheDriverAreMissing) {
  TempTree tree;
  WriteTwoSockets(tree);
  Source source(GpuReport{.driver = "1", .gpus = {}, .missing = {"GPU 0 is lost"}});
  const FileTree files = FileTree::Open(tree.root()).value();
  EXPECT_THAT(Scan(files, {.host_name = "", .gpus = &source}).value().missing,
              Contains("GPU 0 is lost"));
}

TEST(ScanTest, ACapturedTreeContainsItsGpus) {
  TempTree tree;
  WriteTwoSockets(tree);
  WriteFunction(tree, "pci0000:00/0000:00:05.0",
                {.device_class = "0x030200", .vendor = "0x10de", .numa = "1"});
  tree.Write(
      "ringlet/gpus",
      "ringlet-gpus 1\ngpu 3 bus 0000:00:05.0 sm 90 pcie 5 16 vendor 0x10de device 1 name x\n");
  HostScan scan = ScanOf(tree);
  ASSERT_EQ(scan.view.gpus.size(), 1u);
  EXPECT_EQ(scan.view.gpus[0].dev, 3u);
  EXPECT_EQ(scan.view.gpus[0].compute_capability, 90u);
  tree.Write("ringlet/gpus", "nonsense");
  scan = ScanOf(tree);
  EXPECT_THAT(scan.missing, Contains(HasSubstr("/ringlet/gpus: line 1")));
  EXPECT_EQ(scan.view.gpus.size(), 1u);
}

TEST(ScanTest, InterfacesFollowTheRule) {
  TempTree tree;
  WriteTwoSockets(tree);
  const FileTree files = FileTree::Open(tree.root()).value();
  const HostScan scan = Scan(files, {.host_name = "", .interfaces = "=ib0,bond"}).value();
  ASSERT_EQ(scan.view.nets.size(), 1u);
  EXPECT_EQ(scan.view.nets[0].name, "ib0");
  const auto bad = Scan(files, {.host_name = "", .interfaces = "a,,b"});
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, HasSubstr("SOCKET_IFNAME"));
}

TEST(ScanTest, AFolderWithoutAMachineIsRefused) {
  TempTree tree;
  const auto scan = Scan(FileTree::Open(tree.root()).value(), {});
  ASSERT_FALSE(scan.ok());
  EXPECT_EQ(scan.error().code, Code::kInvalidArgument);
  EXPECT_THAT(scan.error().message, HasSubstr(tree.root()));
}

TEST(ScanTest, TheLiveMachineIsScannedAndAgreesWithItself) {
  const FileTree live = FileTree::Open("/").value();
  const HostScan scan = Scan(live, {.host_name = "live", .identity = 2}).value();
  EXPECT_TRUE(scan.view.Check().ok());
  const HostScan again = Scan(live, {.host_name = "live", .identity = 2}).value();
  EXPECT_EQ(again.view.digest(), scan.view.digest());
  Writer out;
  topology::Encode(out, scan.view);
  Reader in(out.view());
  EXPECT_EQ(topology::DecodeHostView(in), scan.view);
}

}  // namespace
}  // namespace ringlet::discovery
