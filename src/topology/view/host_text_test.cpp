#include "topology/view/host_text.hpp"

#include <gmock/gmock.h>

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

constexpr std::string_view kText =
    "ringlet-host 1\n"
    "host \"node-a\" identity 0x1122334455667788\n"
    "cpu arch \"x86_64\" vendor \"GenuineIntel\" family 6 model 143 name \"Xeon(R) \\\"8480\\\"\"\n"
    "numa 0 cpus \"0-55,112-167\" memory 270000000000 distances \"10 21\"\n"
    "numa 1 cpus \"56-111,168-223\" memory 270000000000 distances \"21 10\"\n"
    "net \"eth0\" speed 25000 numa 0\n"
    "net \"eth1\"\n";

std::string ErrorOf(std::string_view text) {
  const Result<HostView> view = ParseText(text);
  return view.ok() ? "no error" : view.error().message;
}

std::string With(std::string_view line) {
  return "ringlet-host 1\nnuma 0\n" + std::string(line) + "\n";
}

TEST(HostTextTest, RoundTrips) {
  const HostView view = ParseText(kText).value();
  EXPECT_EQ(view.name, "node-a");
  EXPECT_EQ(view.identity, 0x1122334455667788u);
  EXPECT_EQ(view.cpu.name, "Xeon(R) \"8480\"");
  ASSERT_EQ(view.numa_nodes.size(), 2u);
  EXPECT_EQ(view.numa_nodes[1].distances, (std::vector<std::uint32_t>{21, 10}));
  EXPECT_EQ(view.nets[0].numa, 0u);
  EXPECT_EQ(view.nets[1].speed_mbit_per_s, std::nullopt);
  EXPECT_EQ(ToText(view), kText);
}

TEST(HostTextTest, CommentsEmptyLinesAndOtherOrdersAreFine) {
  const HostView view =
      ParseText("# a host\n\nringlet-host 1\nnuma 0 memory 1 cpus 0-1\r\n").value();
  EXPECT_EQ(view.numa_nodes[0].cpus.Count(), 2u);
}

TEST(HostTextTest, ALineForEveryPart) {
  HostView view = ParseText(kText).value();
  view.version = 2;
  view.numa_nodes[1].cpu = CpuModel{"arm64", "0x41", 1, 2, "N1"};
  view.numa_nodes[1].host = 9;
  view.numa_nodes[1].id = kUnknownNuma;
  view.pci.push_back({.parent = {PartKind::kNuma, 1}, .bus = BusId::Of(0x10000, 7, 0, 0)});
  view.pci[0].device_class = PciClass{0x060400};
  view.pci[0].ids = {1, 2, 3, 4};
  view.pci[0].link_speed = PcieSpeed::Of(6);
  view.pci[0].link_width = 8;
  view.pci[0].peers = {BusId{0x11000}, BusId{0x12000}};
  view.pci.push_back({.parent = {PartKind::kPci, 0}, .bus = BusId{0x13000}});
  Gpu gpu{.pci = 1, .dev = 3, .compute_capability = 100, .rank = 5, .gdr = false, .gcn = "gfx942"};
  gpu.mlopart = 1;
  gpu.rccl_arch = 38911;
  gpu.links = {{GpuLinkKind::kNvLink, std::nullopt, 18, PciClass{0x068000}},
               {GpuLinkKind::kXgmi, BusId{0x11000}, 1, std::nullopt}};
  gpu.c2c = {{44'712, 10}};
  gpu.fabric = Fabric{{0, 2}, 3};
  view.gpus = {gpu, gpu};
  view.nics = {{{PartKind::kPci, 1}}, {{PartKind::kNuma, 0}}};
  NetInterface& net = view.nets[0];
  net.nic = 1;
  net.kind = NetKind::kBond;
  net.rdma_device = "mlx5_0";
  net.members = {"a b", "c\"d"};
  net.dev = net.latency_ns = net.port = net.max_connections = net.rail = net.plane = 7;
  net.guid = ~std::uint64_t{0};
  net.gdr = net.net_api = net.rma_api = true;
  net.collective = net.gin_api = false;
  view.unknown_attributes = {{{PartKind::kGpuLink, 1, 1}, "colour", "r\nd"}};
  view.unknown_elements = {{{PartKind::kSystem}, "<fan a=\"1\"/>"}};
  ASSERT_TRUE(view.Check().ok());
  const Result<HostView> read = ParseText(ToText(view));
  ASSERT_TRUE(read.ok()) << read.error().message << '\n' << ToText(view);
  EXPECT_EQ(*read, view) << ToText(view);
  EXPECT_EQ(ToText(*read), ToText(view));
}

TEST(HostTextTest, PartsThatMakeNoSenseAreNamed) {
  EXPECT_THAT(ErrorOf(With("pci 7 below \"numa 0\"")), HasSubstr("\"7\" is not the address"));
  EXPECT_THAT(ErrorOf(With("pci 0000:01:00.0")), HasSubstr("below names no part"));
  EXPECT_THAT(ErrorOf(With("link nvlink count 1")), HasSubstr("after its GPU"));
  EXPECT_THAT(ErrorOf(With("link wire")), HasSubstr("nvlink or xgmi"));
  EXPECT_THAT(ErrorOf(With("nic \"fan 0\"")), HasSubstr("a part such as"));
  EXPECT_THAT(ErrorOf(With("net a kind odd")), HasSubstr("kind is \"odd\""));
  EXPECT_THAT(ErrorOf(With("net a gdr 2")), HasSubstr("no number up to 1"));
  EXPECT_THAT(ErrorOf(With("gpu 4")), HasSubstr("at no PCI function"));
}

TEST(HostTextTest, AnErrorNamesTheLine) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("1 to 4096 NUMA nodes"));
  EXPECT_THAT(ErrorOf("host x"), HasSubstr("line 1 of the host text should be"));
  EXPECT_THAT(ErrorOf(With("fan 0")), HasSubstr("line 3 of the host text: it starts with \"fan\""));
  EXPECT_THAT(ErrorOf(With("net eth0 speed fast")), HasSubstr("speed is \"fast\""));
  EXPECT_THAT(ErrorOf(With("net eth0 speed")), HasSubstr("speed has no value"));
  EXPECT_THAT(ErrorOf(With("net eth0 speed 1 speed 2")), HasSubstr("speed occurs twice"));
  EXPECT_THAT(ErrorOf(With("net eth0 color red")), HasSubstr("color is unknown here"));
  EXPECT_THAT(ErrorOf(With("net \"eth0")), HasSubstr("quote"));
  EXPECT_THAT(ErrorOf(With("net")), HasSubstr("name is missing"));
  EXPECT_THAT(ErrorOf(With("numa x")), HasSubstr("the number is \"x\""));
  EXPECT_THAT(ErrorOf(With("numa 1 cpus 3-1")), HasSubstr("no list of CPUs"));
  EXPECT_THAT(ErrorOf(With("numa 1 distances \"10 x\"")), HasSubstr("distance"));
}

TEST(HostTextTest, TextThatTheValueForbidsIsRefused) {
  EXPECT_THAT(ErrorOf(With("numa 0")), HasSubstr("occurs twice"));
  EXPECT_THAT(ErrorOf(With("net eth0 numa 7")), HasSubstr("NUMA node 7, which the host lacks"));
}

}  // namespace
}  // namespace ringlet::topology
