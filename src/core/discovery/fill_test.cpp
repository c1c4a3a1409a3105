#include "discovery/fill.hpp"

#include <gmock/gmock.h>

namespace ringlet::discovery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using topology::BusId;
using topology::CpuSet;
using topology::Gpu;
using topology::HostView;
using topology::PartKind;
using topology::PciClass;
using topology::PciDevice;
using topology::PcieSpeed;

PciDevice Device(PartKind above, std::uint32_t index, std::uint64_t bus) {
  PciDevice device;
  device.parent = {above, index};
  device.bus = BusId{bus};
  return device;
}

/// A GPU below a switch at node 0, a NIC at node 1.
HostView Detected() {
  HostView view;
  view.name = "here";
  view.identity = 77;
  view.cpu = {"x86_64", "AuthenticAMD", 25, 1, "EPYC"};
  view.numa_nodes = {{0, CpuSet::Of(0, 3), 100, {10, 32}}, {1, CpuSet::Of(4, 7), 200, {32, 10}}};
  view.pci = {Device(PartKind::kNuma, 0, 0x1000), Device(PartKind::kPci, 0, 0x3000),
              Device(PartKind::kNuma, 1, 0x9000)};
  view.pci[0].device_class = PciClass{0x060400};
  view.pci[1].device_class = PciClass{0x030200};
  view.pci[1].link_speed = PcieSpeed::Of(5);
  view.pci[1].link_width = 16;
  view.pci[1].ids = {0x10de, 0x2330, 1, 2};
  view.pci[2].device_class = PciClass{0x020000};
  Gpu gpu{.pci = 1, .dev = 4, .gcn = {}};
  gpu.compute_capability = 90;
  gpu.links = {{.target = BusId{0x5000}, .count = 18}};
  view.gpus = {gpu};
  view.nics = {{.parent = {PartKind::kPci, 2}}};
  view.nets = {{.name = "eth0", .speed_mbit_per_s = 25'000, .numa = 1, .nic = 0}};
  view.nets[0].rdma_device = "mlx5_0";
  view.nets[0].dev = 0;
  return view;
}

/// A file with only one node.
HostView Bare() {
  HostView view;
  view.name = "elsewhere";
  view.identity = 5;
  view.numa_nodes = {{0, CpuSet(), 0}};
  view.numa_nodes[0].host = 5;
  return view;
}

TEST(FillTest, AnEmptyFileGivesTheDetectedView) {
  HostView filled = Fill(Bare(), Detected()).value();
  EXPECT_EQ(filled.numa_nodes, Detected().numa_nodes);
  EXPECT_EQ(filled.cpu, Detected().cpu);
  EXPECT_EQ(filled.name, "here");
  EXPECT_EQ(filled.identity, 77u);
  EXPECT_EQ(filled.nets, Detected().nets);
  EXPECT_THAT(filled.pci, SizeIs(3));
  EXPECT_EQ(filled.pci[1].parent.index, 0u);
  EXPECT_EQ(filled.gpus, Detected().gpus);
}

TEST(FillTest, ValuesOfTheFileArePreserved) {
  HostView given = Detected();
  given.numa_nodes[0].cpus = CpuSet::Of(0, 1);
  given.pci[1].link_speed = PcieSpeed::Of(3);
  given.pci[1].link_width = 8;
  given.pci[1].device_class = PciClass{0x030000};
  given.gpus[0].dev = 9;
  given.gpus[0].links = {{.target = {}, .count = 2}};
  given.nets[0].speed_mbit_per_s = 100'000;
  const HostView filled = Fill(given, Detected()).value();
  EXPECT_EQ(filled, given);
}

TEST(FillTest, MissingValuesOfAFunctionAndItsGpuAreFilled) {
  HostView given = Bare();
  given.pci = {Device(PartKind::kNuma, 0, 0xff000), Device(PartKind::kPci, 0, 0x3000)};
  given.gpus = {Gpu{.pci = 1, .rank = 2, .gcn = {}}};
  const HostView filled = Fill(given, Detected()).value();
  EXPECT_EQ(filled.pci[1].parent.index, 0u);  // the file's parent, not the machine's
  EXPECT_EQ(filled.pci[1].link_speed, PcieSpeed::Of(5));
  EXPECT_EQ(filled.pci[1].ids.packed(), Detected().pci[1].ids.packed());
  ASSERT_THAT(filled.gpus, SizeIs(1));
  EXPECT_EQ(filled.gpus[0].rank, 2u);
  EXPECT_EQ(filled.gpus[0].dev, 4u);
  EXPECT_EQ(filled.gpus[0].links, Detected().gpus[0].links);
  // The machine's switch is unnecessary, so only the NIC's function was added.
  EXPECT_THAT(filled.pci, SizeIs(3));
  EXPECT_EQ(filled.pci[2].bus, BusId{0x9000});
}

TEST(FillTest, AnInterfaceIsMatchedByItsRdmaDevice) {
  HostView given = Bare();
  given.pci = {Device(PartKind::kNuma, 0, 0x9000)};
  given.nics = {{.parent = {PartKind::kPci, 0}}};
  given.nets = {{.name = "mlx5_0", .speed_mbit_per_s = {}, .numa = {}, .nic = 0},
                {.name = "gone", .speed_mbit_per_s = 1, .numa = {}}};
  const HostView filled = Fill(given, Detected()).value();
  ASSERT_THAT(filled.nets, SizeIs(2));
  EXPECT_EQ(filled.nets[0].name, "mlx5_0");
  EXPECT_EQ(filled.nets[0].speed_mbit_per_s, 25'000u);
  EXPECT_EQ(filled.nets[0].nic, 0u);
  EXPECT_THAT(filled.nics, SizeIs(1));
}

TEST(FillTest, AnInterfaceWithoutAPlaceGetsTheDetectedPlace) {
  HostView given = Bare();
  given.nets = {{.name = "eth0", .speed_mbit_per_s = {}, .numa = {}}};
  const HostView filled = Fill(given, Detected()).value();
  ASSERT_EQ(filled.nets[0].nic, 0u);
  EXPECT_EQ(filled.pci[filled.nics[0].parent.index].bus, BusId{0x9000});
}

TEST(FillTest, PortsOfASingleCardShareItsNic) {
  HostView given = Bare();
  given.pci = {Device(PartKind::kNuma, 0, 0x9000)};
  given.nics = {{.parent = {PartKind::kPci, 0}}};
  given.nets = {{.name = "eth9", .speed_mbit_per_s = {}, .numa = {}, .nic = 0}};
  const HostView filled = Fill(given, Detected()).value();
  ASSERT_THAT(filled.nets, SizeIs(2));
  EXPECT_EQ(filled.nets[1].nic, 0u);
  EXPECT_EQ(filled.nets[1].dev, 1u);
}

TEST(FillTest, DistancesAreFilledOnlyForKnownNodes) {
  HostView given = Bare();
  given.numa_nodes = {{1, CpuSet(), 0}, {0, CpuSet(), 0}};
  HostView filled = Fill(given, Detected()).value();
  EXPECT_THAT(filled.numa_nodes[0].distances, ElementsAre(10u, 32u));
  EXPECT_THAT(filled.numa_nodes[1].distances, ElementsAre(32u, 10u));
  EXPECT_EQ(filled.numa_nodes[0].cpus, CpuSet::Of(4, 7));
  given.numa_nodes.push_back({8, CpuSet::Of(9, 9), 0});
  filled = Fill(given, Detected()).value();
  for (const auto& node : filled.numa_nodes) EXPECT_THAT(node.distances, IsEmpty());
}

TEST(FillTest, DifferentHalvesOfAGpuAreNotMerged) {
  HostView given = Bare();
  given.pci = {Device(PartKind::kNuma, 0, 0x3000)};
  Gpu half{.pci = 0, .mlopart = 1, .gcn = {}};
  given.gpus = {half};
  HostView detected = Detected();
  detected.gpus[0].mlopart = 0;
  EXPECT_EQ(Fill(given, detected).value().gpus[0], half);
}

TEST(FillTest, AMergedTreeBeyondTheDepthLimitIsRefused) {
  HostView given = Bare();
  given.pci = {Device(PartKind::kNuma, 0, 0xfff000)};
  for (std::uint32_t i = 0; i + 1 < HostView::kDepthMax; ++i)
    given.pci.push_back(Device(PartKind::kPci, i, 0x1000000 + i));
  given.pci.back().bus = BusId{0x1000};  // the machine's switch, at the end of the file
  const auto filled = Fill(given, Detected());
  ASSERT_FALSE(filled.ok());
  EXPECT_EQ(filled.error().code, Code::kInvalidArgument);
}

TEST(FillTest, EqualAndUnnamedHalvesAreMerged) {
  for (const std::optional<std::uint32_t> own : {std::optional<std::uint32_t>(1), {}}) {
    for (const std::optional<std::uint32_t> other : {std::optional<std::uint32_t>(1), {}}) {
      HostView given = Bare();
      given.pci = {Device(PartKind::kNuma, 0, 0x3000)};
      given.gpus = {Gpu{.pci = 0, .mlopart = own, .gcn = {}}};
      HostView detected = Detected();
      detected.gpus[0].mlopart = other;
      const HostView filled = Fill(given, detected).value();
      EXPECT_EQ(filled.gpus[0].dev, 4u);
      EXPECT_EQ(filled.gpus[0].mlopart, own ? own : other);
    }
  }
}

TEST(FillTest, EveryMissingValueOfAPartIsFilled) {
  HostView detected = Detected();
  detected.pci[1].peers = {BusId{0x1000}};
  topology::Gpu& gpu = detected.gpus[0];
  gpu.gdr = true;
  gpu.c2c = {{44'712, 10}};
  gpu.fabric = topology::NvlinkFabric{{1, 2}, 3};
  topology::NetInterface& net = detected.nets[0];
  net.kind = topology::NetKind::kBond;
  net.members = {"a", "b"};
  net.port = 2;
  net.guid = 7;
  net.gdr = true;
  HostView given = detected;
  given.cpu = {};
  for (auto& node : given.numa_nodes) node = {node.id, CpuSet(), 0};
  given.pci[1] = Device(PartKind::kPci, 0, 0x3000);
  given.gpus[0] = Gpu{.pci = 1, .gcn = {}};
  given.nets[0] = {.name = "eth0", .speed_mbit_per_s = {}, .numa = {}, .nic = 0};
  EXPECT_EQ(Fill(given, detected).value(), detected);
}

}  // namespace
}  // namespace ringlet::discovery
