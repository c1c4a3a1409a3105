#include "topo/edit/fuse.hpp"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "topo/edit/machines_for_test.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A host with two GPUs and a NIC.
HostView Whole() {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 80).NvLink(0x12, 4).Gpu(0x12, 80).NvLink(0x11, 4);
  machine.Nic(0x13, 200'000).Numa(1);
  return machine.view;
}

/// The view of one rank's process: its own GPU alone has a rank, and the rest is trimmed away.
HostView SeenBy(std::uint32_t rank) {
  HostView view = Whole();
  for (Gpu& gpu : view.gpus)
    if (gpu.rank != rank) gpu.rank.reset();
  return Prune(view);
}

TEST(FuseTest, ViewsOfAllRanksFuseIntoTheHost) {
  const std::vector<HostView> views = {SeenBy(0), SeenBy(1)};
  EXPECT_EQ(views[0].gpus.size(), 1u);
  const Fused fused = Fuse(views).value();
  EXPECT_THAT(fused.notes, IsEmpty());
  // Returns all but the order of neighbours, which is that of the views.
  const auto lines = [](const HostView& view) {
    const std::string text = ToText(Build({&view, 1}, {}, {.gpus = GpuRanks::kGiven}).value());
    std::multiset<std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) found.insert(line);
    return found;
  };
  EXPECT_EQ(lines(fused.view), lines(Prune(Whole())));
}

TEST(FuseTest, DifferentViewsOfADeviceMergeWithANote) {
  std::vector<HostView> views = {SeenBy(0), SeenBy(1)};
  views[0].pci[0].link_speed = PcieSpeed::Of(1);  // at rest
  views[1].nets[0].speed_mbit_per_s = 100'000;
  views[1].nets[0].latency_ns = 700;
  const Fused fused = Fuse(views).value();
  EXPECT_EQ(fused.view.pci.size(), 4u);
  EXPECT_EQ(fused.view.pci[0].link_speed.generation, 5);
  EXPECT_EQ(fused.view.nets[0].speed_mbit_per_s, 200'000u);
  EXPECT_EQ(fused.view.nets[0].latency_ns, 700u);
  ASSERT_EQ(fused.notes.size(), 2u);
  EXPECT_THAT(fused.notes[0], HasSubstr("0000:10:00.0 has another link speed or width"));
  EXPECT_THAT(fused.notes[1], HasSubstr("port \"mlx5_0\" has another speed"));
}

TEST(FuseTest, SeparatesHostsAndRenumbersTheirRanks) {
  std::vector<HostView> views = {Whole(), Whole()};
  views[1].identity = 2;
  views[1].cpu.vendor = "AuthenticAMD";
  views[1].nets[0].nic.reset();
  views[1].nets[0].numa = 1;
  const Fused fused = Fuse(views).value();
  EXPECT_EQ(fused.view.gpus.size(), 4u);
  EXPECT_EQ(fused.view.gpus[3].rank, 3u);
  EXPECT_THAT(fused.notes, testing::Contains(HasSubstr("all 4 GPUs were renumbered")));
  ASSERT_EQ(fused.view.numa_nodes.size(), 4u);
  EXPECT_EQ(fused.view.numa_nodes[2].host, 2u);
  EXPECT_EQ(fused.view.numa_nodes[2].cpu->vendor, "AuthenticAMD");
  EXPECT_EQ(fused.view.NumaIndexOf({PartKind::kNet, 1}), 3u);
  const Graph graph = Build({&fused.view, 1}, {}, {.gpus = GpuRanks::kGiven}).value();
  EXPECT_EQ(graph.hosts().size(), 2u);
  EXPECT_EQ(graph.systems().size(), 1u);
}

TEST(FuseTest, KeepsSeveralRanksOnOneGpu) {
  std::vector<HostView> views = {SeenBy(0), SeenBy(0)};
  views[1].gpus[0].rank = 7;
  const Fused fused = Fuse(views).value();
  EXPECT_EQ(fused.view.pci.size(), 3u);
  EXPECT_EQ(fused.view.gpus.size(), 2u);
  EXPECT_EQ(fused.view.gpus[0].pci, fused.view.gpus[1].pci);
}

TEST(FuseTest, KeepsDevicesThatOneViewRepeats) {
  HostView view = Whole();
  view.gpus[0].rank.reset();
  view.gpus.push_back(view.gpus[0]);
  view.nets.push_back(view.nets[0]);
  const std::vector<HostView> views = {view, view};
  const Fused fused = Fuse(views).value();
  EXPECT_EQ(fused.view.gpus.size(), 3u);
  EXPECT_EQ(fused.view.nets.size(), 2u);
}

TEST(FuseTest, KeepsUnknownAttributesAndElementsOnce) {
  HostView view = Whole();
  view.unknown_attributes.push_back({{PartKind::kPci, 2}, "color", "blue"});
  view.unknown_elements.push_back({{PartKind::kNuma, 1}, "<cache/>"});
  HostView other = SeenBy(1);
  const auto gpu = static_cast<std::uint32_t>(other.gpus[0].pci);
  other.unknown_attributes.push_back({{PartKind::kPci, gpu}, "color", "red"});
  const std::vector<HostView> views = {view, other, view};
  const Fused fused = Fuse(views).value();
  EXPECT_EQ(fused.view.unknown_attributes, view.unknown_attributes);
  EXPECT_EQ(fused.view.unknown_elements, view.unknown_elements);
}

TEST(FuseTest, RefusesZeroAndInvalidViews) {
  EXPECT_FALSE(Fuse({}).ok());
  HostView bad = Whole();
  bad.gpus[0].pci = 99;
  EXPECT_FALSE(Fuse({&bad, 1}).ok());
}

TEST(FuseTest, PruningKeepsUsedParts) {
  HostView view = Whole();
  view.gpus[0].rank.reset();
  view.nets.clear();
  view.unknown_elements.push_back({{PartKind::kNuma, 1}, "<cache/>"});
  const HostView pruned = Prune(view);
  EXPECT_TRUE(pruned.Check().ok());
  EXPECT_EQ(pruned.pci.size(), 2u);
  EXPECT_EQ(pruned.gpus.size(), 1u);
  EXPECT_EQ(pruned.gpus[0].rank, 1u);
  EXPECT_TRUE(pruned.nics.empty() && pruned.unknown_elements.empty());
  EXPECT_EQ(pruned.numa_nodes.size(), 1u);
  view.gpus.clear();
  EXPECT_EQ(Prune(view).numa_nodes.size(), 1u);
}

TEST(FuseTest, AFusedRackHasThePathsOfItsHosts) {
  const std::vector<HostView> rack = RackForTest(4);
  const Fused fused = Fuse(rack).value();
  EXPECT_THAT(fused.notes, IsEmpty());
  const Graph one = Build({&fused.view, 1}, {}, {.gpus = GpuRanks::kGiven}).value();
  const Graph all = Build(rack, {}, {.gpus = GpuRanks::kGiven}).value();
  const Paths a = FindPaths(one, 0, {}).value(), b = FindPaths(all, 0, {}).value();
  for (std::uint32_t from = 0; from < all.nodes().size(); ++from)
    for (std::uint32_t to = 0; to < all.nodes().size(); ++to)
      EXPECT_EQ(a.From(NodeIndex{from}, NodeIndex{to}), b.From(NodeIndex{from}, NodeIndex{to}));
}

/// As Whole(), with a value in every optional place.
HostView Detailed() {
  HostView view = Whole();
  view.version = 2;
  view.numa_nodes[0].memory_bytes = 1 << 20;
  view.numa_nodes[0].distances = {10, 21};
  view.numa_nodes[1].distances = {21, 10};
  view.pci[1].ids = {1, 2, 3, 4};
  view.pci[1].peers = {BusId{0x77000}};
  Gpu& gpu = view.gpus[0];
  gpu.gcn = "gfx942";
  gpu.rccl_arch = 5;
  gpu.c2c = {{44'712, 10}};
  gpu.fabric = NvlinkFabric{{1, 2}, 3};
  NetInterface& net = view.nets[0];
  net.port = net.latency_ns = net.max_connections = net.rail = net.plane = 7;
  net.guid = 7;
  net.collective = net.net_api = net.gin_api = net.rma_api = true;
  return view;
}

TEST(FuseTest, ALaterViewCompletesAnEarlierOne) {
  const HostView detailed = Detailed();
  HostView bare = Whole();
  bare.numa_nodes[0].cpus = {};
  for (PciDevice& device : bare.pci) {
    device.device_class.reset();
    device.link_speed = {};
    device.link_width = 0;
  }
  for (Gpu& gpu : bare.gpus) gpu = {.pci = gpu.pci, .rank = gpu.rank, .gcn = ""};
  bare.nets[0] = {
      .name = bare.nets[0].name, .speed_mbit_per_s = std::nullopt, .numa = std::nullopt, .nic = 0};
  const HostView whole = Fuse({&detailed, 1}).value().view;
  EXPECT_EQ(whole, detailed);
  for (const auto& views : {std::vector{bare, detailed}, std::vector{detailed, bare}}) {
    const Fused fused = Fuse(views).value();
    EXPECT_EQ(fused.view, whole);
    EXPECT_THAT(fused.notes, IsEmpty());
  }
}

TEST(FuseTest, ReportsEveryDifferenceAndKeepsTheFirstValue) {
  const HostView first = Detailed();
  const auto told = [&](auto change) {
    HostView later = first;
    change(later);
    const std::vector<HostView> views = {first, later};
    const Fused fused = Fuse(views).value();
    EXPECT_EQ(fused.view, first);
    return fused.notes.size() == 1 ? fused.notes[0] : std::to_string(fused.notes.size()) + " notes";
  };
  EXPECT_THAT(told([](HostView& v) { v.numa_nodes[0].cpus = CpuSet::Of(0, 1); }),
              HasSubstr("NUMA node 0 of host 0x1 has another set of CPUs"));
  EXPECT_THAT(told([](HostView& v) { v.numa_nodes[0].memory_bytes = 1; }), HasSubstr("memory"));
  EXPECT_THAT(told([](HostView& v) { v.numa_nodes[0].distances[1] = 1; }), HasSubstr("distances"));
  EXPECT_THAT(told([](HostView& v) { v.numa_nodes[0].cpu = CpuModel{}; }), HasSubstr("processor"));
  EXPECT_THAT(told([](HostView& v) {
                v.pci[3].parent = {PartKind::kNuma, 1};
              }),
              HasSubstr("0000:13:00.0 has another place"));
  EXPECT_THAT(told([](HostView& v) { v.pci[1].device_class = PciClass{1}; }), HasSubstr("class"));
  EXPECT_THAT(told([](HostView& v) { v.pci[1].ids.vendor = 9; }), HasSubstr("vendor or device"));
  EXPECT_THAT(told([](HostView& v) { v.pci[1].link_width = 8; }), HasSubstr("speed or width"));
  EXPECT_THAT(told([](HostView& v) { v.gpus[0].dev = 9; }), HasSubstr("0000:11:00.0 has another"));
  EXPECT_THAT(told([](HostView& v) { v.gpus[0].compute_capability = 9; }), HasSubstr("capability"));
  EXPECT_THAT(told([](HostView& v) { v.gpus[0].gdr = false; }), HasSubstr("GPUDirect"));
  EXPECT_THAT(told([](HostView& v) { v.gpus[0].gcn = "x"; }), HasSubstr("name"));
  EXPECT_THAT(told([](HostView& v) { v.gpus[0].rccl_arch = 9; }), HasSubstr("arch"));
  EXPECT_THAT(told([](HostView& v) { v.gpus[0].fabric->clique = 9; }), HasSubstr("NVLink domain"));
  EXPECT_THAT(told([](HostView& v) { v.gpus[0].links[0].count = 9; }), HasSubstr("set of NVLinks"));
  EXPECT_THAT(told([](HostView& v) { v.gpus[0].c2c[0].count = 9; }), HasSubstr("chip-to-chip"));
  for (const auto& [member, name] :
       {std::pair(&NetInterface::dev, "number"), std::pair(&NetInterface::port, "port number"),
        std::pair(&NetInterface::latency_ns, "latency"), std::pair(&NetInterface::rail, "rail"),
        std::pair(&NetInterface::max_connections, "connections"),
        std::pair(&NetInterface::plane, "plane")})
    EXPECT_THAT(told([&](HostView& v) { v.nets[0].*member = 9; }), HasSubstr(name));
  for (const auto& [member, name] :
       {std::pair(&NetInterface::gdr, "GPUDirect"), std::pair(&NetInterface::net_api, "net flag"),
        std::pair(&NetInterface::collective, "reduction"),
        std::pair(&NetInterface::gin_api, "gin flag"),
        std::pair(&NetInterface::rma_api, "rma flag")})
    EXPECT_THAT(told([&](HostView& v) { v.nets[0].*member = false; }), HasSubstr(name));
  EXPECT_THAT(told([](HostView& v) { v.nets[0].guid = 9; }), HasSubstr("guid"));
}

TEST(FuseTest, DropsNumaNumbersOfPorts) {
  HostView view = Whole();
  view.nets[0].numa = 0;
  EXPECT_EQ(Fuse({&view, 1}).value().view.nets[0].numa, std::nullopt);
}

TEST(FuseTest, UnknownAttributesFollowTheirLink) {
  const HostView first = Detailed();
  for (const Part link : {Part{PartKind::kGpuLink, 0, 0}, Part{PartKind::kC2c, 0, 0},
                          Part{PartKind::kPciLink, 1, 0}}) {
    HostView later = first;
    later.gpus[0].links.push_back(later.gpus[0].links[0]);
    later.gpus[0].c2c.push_back(later.gpus[0].c2c[0]);
    Part second = link;
    second.item = 1;
    later.unknown_attributes = {{link, "color", "red"}};
    if (link.kind != PartKind::kPciLink)  // for these, all views' attributes are kept
      later.unknown_attributes.push_back({second, "color", "blue"});
    const std::vector<HostView> views = {first, later};
    const Fused fused = Fuse(views).value();
    EXPECT_TRUE(fused.view.Check().ok());
    EXPECT_EQ(fused.view.unknown_attributes,
              (std::vector<UnknownAttribute>{{link, "color", "red"}}));
  }
}

}  // namespace
}  // namespace ringlet::topology
