#include "topology/xml/xml_writer.hpp"

#include <gmock/gmock.h>

#include "topology/xml/xml_reader.hpp"

namespace ringlet::topology {
namespace {

// NCCL's own output. The writer must reproduce every letter.
constexpr const char* kNcclsOwn =
    R"(<system version="1">)"
    "\n"
    R"(  <cpu host_hash="0x94ecb6d613fd2af1" numaid="3")"
    R"( affinity="ffff0000,00000000" arch="x86_64" vendor="AuthenticAMD")"
    R"( familyid="175" modelid="1">)"
    "\n"
    R"(    <pci busid="0000:01:00.0" class="0x020000" vendor="0x17db")"
    R"( device="0x0501" subsystem_vendor="0x17db" subsystem_device="0x0000")"
    R"( link_speed="16.0 GT/s PCIe" link_width="16">)"
    "\n"
    "      <nic>\n"
    R"(        <net name="cxi3" dev="3" latency="0" speed="200000" port="1")"
    R"( guid="0x3" maxconn="128" gdr="1" net="1"/>)"
    "\n"
    "      </nic>\n"
    "    </pci>\n"
    R"(    <pci busid="0000:03:00.0" class="0x030200" vendor="0x10de")"
    R"( device="0x20b0" subsystem_vendor="0x10de" subsystem_device="0x144e")"
    R"( link_speed="16.0 GT/s PCIe" link_width="16">)"
    "\n"
    R"(      <gpu dev="0" sm="80" rank="0" gdr="1">)"
    "\n"
    R"(        <nvlink target="0000:82:00.0" count="4" tclass="0x030200"/>)"
    "\n"
    R"(        <nvlink target="fffffff:ffff:ff" count="4" tclass="0x068000"/>)"
    "\n"
    R"(        <c2c bw="44712" count="10"/>)"
    "\n"
    "      </gpu>\n"
    "    </pci>\n"
    "  </cpu>\n"
    "</system>\n";

TEST(XmlWriterTest, WritesTheFormatOfNccl) {
  EXPECT_EQ(ToXml(ViewFromXml(kNcclsOwn, "").value()), kNcclsOwn);
}

TEST(XmlWriterTest, AttributesUnknownToNcclRoundTrip) {
  HostView view{.name = "a\"<&>'\t\n\x01\xc3\xa4",
                .identity = 5,
                .cpu = {"x86_64", "GenuineIntel", 6, 143, ""},
                .numa_nodes = {{4, CpuSet::Of(0, 3), 0, {10, 21}}, {0, {}, 0, {21, 10}}},
                .nets = {}};
  view.numa_nodes[1].host = 0;
  view.numa_nodes[1].cpu = CpuModel{"arm64", "", 0, 0, ""};
  view.pci.push_back({.parent = {PartKind::kNuma, 1}, .bus = BusId::Of(0x10000, 1, 2, 3)});
  view.pci[0].peers = {BusId{0x11000}, BusId{0x12000}};
  view.gpus = {{.pci = 0, .gcn = "gfx90a", .rccl_arch = 5, .fabric = NvlinkFabric{{1, 2}, 3}}};
  view.nics = {{{PartKind::kNuma, 0}}};
  view.nets = {{"n", 25'000, 4, 0}};
  view.nets[0].latency_ns = 1'250;
  NetInterface& net = view.nets[0];
  net.dev = net.port = net.max_connections = net.rail = net.plane = 7;
  net.guid = 0x1234;
  net.gdr = net.net_api = net.collective = net.gin_api = true;
  net.rma_api = false;
  view.version = 2;
  view.unknown_attributes = {{{PartKind::kPciLink, 0, 1}, "colour", "r&d"}};
  view.unknown_elements = {{{PartKind::kSystem}, "<fan/>"},
                           {{PartKind::kGpu, 0}, "<heat k=\"1\"/>"}};
  ASSERT_TRUE(view.Check().ok());
  const XmlReading reading = ReadXml(ToXml(view), "");
  ASSERT_TRUE(reading.view) << ToXml(view);
  EXPECT_EQ(*reading.view, view) << ToXml(view);
}

TEST(XmlWriterTest, InterfacesWithoutANicAreWrittenBelowTheirNode) {
  HostView view{.name = "", .cpu = {}, .numa_nodes = {{0, {}, 0, {}}, {1, {}, 0, {}}}, .nets = {}};
  view.nets = {{"a", 1'000, 1}, {"b", std::nullopt, std::nullopt}, {"c", std::nullopt, 1}};
  const HostView read = ViewFromXml(ToXml(view), "").value();
  ASSERT_EQ(read.nets.size(), 3u);
  EXPECT_EQ(read.nics.size(), 2u);
  EXPECT_EQ(read.nets[0].name, "b");
  EXPECT_EQ(read.nets[2].name, "c");
  EXPECT_EQ(read.nets[2].numa, 1u);
}

}  // namespace
}  // namespace ringlet::topology
