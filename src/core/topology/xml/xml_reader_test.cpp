#include "topology/xml/xml_reader.hpp"

#include <gmock/gmock.h>

#include "base/value/prng.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A machine with every kind of part.
constexpr const char* kAll =
    R"(<system version="1" name="box">)"
    "\n"
    R"(  <cpu host_hash="0xab" numaid="1" affinity="ff,00000001")"
    R"( arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">)"
    "\n"
    "    <nic>\n"
    R"(      <net name="eth0" dev="2" speed="-1"/>)"
    "\n"
    "    </nic>\n"
    R"(    <pci busid="0000:01:00.0" class="0x060400" vendor="0x1000")"
    R"( device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x1")"
    R"( link_speed="32.0 GT/s PCIe" link_width="16">)"
    "\n"
    R"(      <pcilink target="0000:81:00.0"/>)"
    "\n"
    R"(      <pci busid="0000:07:00.0" class="0x030200" link_speed="")"
    R"( link_width="">)"
    "\n"
    R"(        <gpu dev="0" sm="90" rank="3" gdr="1" mlopart="1">)"
    "\n"
    R"(          <nvlink target="0000:08:00.0" count="6" tclass="0x030200"/>)"
    "\n"
    R"(          <nvlink target="fffffff:ffff:ff" count="12")"
    R"( tclass="0x068000"/>)"
    "\n"
    R"(          <c2c bw="44712" count="10"/>)"
    "\n"
    "        </gpu>\n"
    "      </pci>\n"
    R"(      <pci busid="0000:09:00.0" class="0x020000" link_speed="16.0)"
    R"( GT/s PCIe" link_width="8">)"
    "\n"
    "        <nic>\n"
    R"(          <net name="mlx5_0" keep="1" dev="0" latency="1.5")"
    R"( speed="400000" port="1" rail="2" plane="1" guid="0x10" maxconn="64")"
    R"( gdr="1" net="1" coll="0" gin="1" rma="0"/>)"
    "\n"
    "        </nic>\n"
    "      </pci>\n"
    "    </pci>\n"
    "  </cpu>\n"
    R"(  <cpu numaid="-1" arch="arm64"/>)"
    "\n"
    "</system>\n";

TEST(XmlReaderTest, EveryElementAndAttributeIsRead) {
  const XmlReading reading = ReadXml(kAll, "all.xml");
  ASSERT_TRUE(reading.view);
  EXPECT_THAT(reading.findings, ElementsAre());
  const HostView& view = *reading.view;
  EXPECT_EQ(view.name, "box");
  EXPECT_EQ(view.identity, 0xabu);
  EXPECT_EQ(view.cpu, (CpuModel{"x86_64", "GenuineIntel", 6, 143, ""}));
  ASSERT_EQ(view.numa_nodes.size(), 2u);
  EXPECT_EQ(view.numa_nodes[0].id, 1u);
  EXPECT_EQ(ToString(view.numa_nodes[0].cpus), "0,32-39");
  EXPECT_EQ(view.numa_nodes[1].id, kUnknownNuma);
  EXPECT_EQ(view.numa_nodes[1].cpu, (CpuModel{"arm64", "", 0, 0, ""}));
  ASSERT_EQ(view.pci.size(), 3u);
  EXPECT_EQ(view.pci[0].ids.packed(), 0x1000'c030'1000'0001u);
  EXPECT_EQ(view.pci[0].link_speed.generation, 5);
  EXPECT_THAT(view.pci[0].peers, ElementsAre(BusId::Of(0, 0x81, 0, 0)));
  EXPECT_EQ(view.pci[1].parent, (Part{PartKind::kPci, 0}));
  EXPECT_EQ(view.pci[1].link_width, 0);
  ASSERT_EQ(view.gpus.size(), 1u);
  EXPECT_EQ(view.gpus[0].compute_capability, 90u);
  EXPECT_EQ(view.gpus[0].rank, 3u);
  EXPECT_EQ(view.gpus[0].mlopart, 1u);
  EXPECT_THAT(
      view.gpus[0].links,
      ElementsAre(GpuLink{GpuLinkKind::kNvLink, BusId::Of(0, 8, 0, 0), 6, PciClass{0x030200}},
                  GpuLink{GpuLinkKind::kNvLink, std::nullopt, 12, PciClass{0x068000}}));
  EXPECT_THAT(view.gpus[0].c2c, ElementsAre(C2cLink{44'712, 10}));
  ASSERT_EQ(view.nets.size(), 2u);
  EXPECT_EQ(view.nics[*view.nets[0].nic].parent, (Part{PartKind::kNuma, 0}));
  EXPECT_EQ(view.nets[0].speed_mbit_per_s, std::nullopt);
  const NetInterface& net = view.nets[1];
  EXPECT_EQ(net.numa, 1u);
  EXPECT_EQ(net.latency_ns, 1500u);
  EXPECT_EQ(net.guid, 0x10u);
  EXPECT_EQ(net.rail, 2u);
  EXPECT_EQ(net.gin_api, true);
  EXPECT_EQ(net.rma_api, false);
}

TEST(XmlReaderTest, PartsHaveTheirPositions) {
  const XmlReading reading = ReadXml(kAll, "all.xml");
  EXPECT_EQ(reading.positions.Of({PartKind::kGpu, 0}), (TextPosition{9, 10}));
  EXPECT_EQ(reading.positions.Of({PartKind::kGpu, 0}, "sm"), (TextPosition{9, 22}));
  EXPECT_EQ(reading.positions.Of({PartKind::kGpuLink, 0, 1}, "target").line, 11u);
  EXPECT_EQ(reading.positions.Of({PartKind::kNuma, 1}).line, 22u);
}

std::string Within(const std::string& children) {
  return "<system version=\"1\"><cpu numaid=\"0\">" + children + "</cpu></system>";
}
std::string InPci(const std::string& children) {
  return Within("<pci busid=\"0000:01:00.0\">" + children + "</pci>");
}

/// The rule and the path of each finding.
std::vector<std::string> RulesOf(const std::string& text) {
  std::vector<std::string> rules;
  for (const Finding& finding : ReadXml(text, "").findings)
    rules.push_back(finding.rule + " " + finding.path);
  return rules;
}

TEST(XmlReaderTest, UnknownPartsAreKeptAndReported) {
  const XmlReading reading = ReadXml(
      Within("<fan rpm='3'><blade/></fan><nic color='red'><net name='x' taste='1'/></nic>"), "");
  ASSERT_TRUE(reading.view);
  EXPECT_THAT(reading.view->unknown_elements,
              ElementsAre(UnknownElement{{PartKind::kNuma, 0}, "<fan rpm=\"3\"><blade/></fan>"}));
  EXPECT_THAT(reading.view->unknown_attributes,
              ElementsAre(UnknownAttribute{{PartKind::kNic, 0}, "color", "red"},
                          UnknownAttribute{{PartKind::kNet, 0}, "taste", "1"}));
  EXPECT_EQ(reading.findings.size(), 3u);
}

TEST(XmlReaderTest, PartsThatStopNcclAreErrors) {
  for (const std::string& text : {Within("<pci class='0x03'/>"),
                                  Within("<pci busid='x' class='0x03'/>"), InPci("<pcilink/>")}) {
    const XmlReading reading = ReadXml(text, "");
    ASSERT_EQ(reading.findings.size(), 1u) << text;
    EXPECT_EQ(reading.findings[0].severity, Severity::kError) << text;
  }
}

TEST(XmlReaderTest, XmlOfOtherProgramsIsRecognized) {
  const auto cure = [](const std::string& text) { return ReadXml(text, "").findings.at(0).cure; };
  EXPECT_THAT(cure("<topology version='2.0'><object type='Machine'/></topology>"),
              testing::HasSubstr("hwloc's XML"));
  EXPECT_THAT(cure("<nvidia_smi_log/>"), testing::HasSubstr("nvidia-smi -q -x"));
  EXPECT_THAT(cure("<graphs/>"), testing::HasSubstr("NCCL_GRAPH_FILE"));
}

TEST(XmlReaderTest, CpuFamiliesMatchTheKernel) {
  const auto family = [](const std::string& id) {
    return ViewFromXml(
               "<system version='1'><cpu numaid='0' arch='x86_64' vendor='AuthenticAMD' "
               "familyid='" +
                   id + "' modelid='1'/></system>",
               "")
        .value()
        .cpu.family;
  };
  EXPECT_EQ(family("175"), 25u) << "as NCCL writes it";
  EXPECT_EQ(family("25"), 25u);
  EXPECT_EQ(family("143"), 23u);
  EXPECT_EQ(family("6"), 6u);
  EXPECT_EQ(family("15"), 15u);
}

TEST(XmlReaderTest, PartsWithoutAPlaceAreKept) {
  EXPECT_THAT(RulesOf(Within("<gpu dev='0'/>")), ElementsAre("unknown-element system/cpu[0]/gpu"));
  EXPECT_THAT(RulesOf(Within("<pci class='0x03'/>")),
              ElementsAre("unknown-element system/cpu[0]/pci"));
  EXPECT_THAT(RulesOf(InPci("<pcilink target='x'/>")),
              ElementsAre("unknown-element system/cpu[0]/pci[0000:01:00.0]/pcilink"));
  EXPECT_THAT(RulesOf(Within("0")), ElementsAre("text system/cpu[0]"));
}

TEST(XmlReaderTest, ImpossibleValuesAreReportedAndSkipped) {
  EXPECT_THAT(RulesOf(InPci("<gpu gdr='2' dev='one'><nvlink target='a'/></gpu>")),
              ElementsAre("bad-value system/cpu[0]/pci[0000:01:00.0]/gpu",
                          "bad-value system/cpu[0]/pci[0000:01:00.0]/gpu",
                          "no-count system/cpu[0]/pci[0000:01:00.0]/gpu/nvlink[a]",
                          "bad-value system/cpu[0]/pci[0000:01:00.0]/gpu/nvlink[a]"));
  EXPECT_THAT(
      RulesOf("<system><cpu affinity='xyz'/></system>"),
      ElementsAre("no-version system", "no-numaid system/cpu[?]", "bad-value system/cpu[?]"));
  EXPECT_THAT(RulesOf("<system version='3'><cpu numaid='0' distances='10 20'/></system>"),
              ElementsAre("unknown-version system", "bad-value system/cpu[0]"));
}

TEST(XmlReaderTest, ANumaNodeThatOccursTwiceIsMerged) {
  const XmlReading reading = ReadXml(
      "<system version='1'><cpu numaid='0'><nic/></cpu><cpu numaid='1'><nic/></cpu>"
      "<cpu numaid='0'><nic/></cpu></system>",
      "");
  ASSERT_TRUE(reading.view);
  EXPECT_EQ(reading.view->numa_nodes.size(), 2u);
  ASSERT_EQ(reading.view->nics.size(), 3u);  // the first <cpu> has two
  EXPECT_EQ(reading.view->nics[1].parent.index, 0u);
  EXPECT_EQ(reading.view->nics[2].parent.index, 1u);
  ASSERT_EQ(reading.findings.size(), 1u);
  EXPECT_EQ(reading.findings[0].rule, "numaid-twice");
}

TEST(XmlReaderTest, NodesOfSeveralHostsAreDistinct) {
  const XmlReading reading = ReadXml(
      "<system version='1'><cpu host_hash='0x1' numaid='0'/><cpu host_hash='0x2' numaid='0'/>"
      "</system>",
      "");
  ASSERT_TRUE(reading.view);
  EXPECT_THAT(reading.findings, ElementsAre());
  EXPECT_EQ(reading.view->HostOf(reading.view->numa_nodes[0]), 1u);
  EXPECT_EQ(reading.view->HostOf(reading.view->numa_nodes[1]), 2u);
}

TEST(XmlReaderTest, FilesOfRcclAreRead) {
  const XmlReading reading = ReadXml(
      "<system version='2'><cpu numaid='0'><pci busid='0000:01:00.0'><gpu dev='0' sm='94' "
      "gcn='gfx942' arch='38911'><xgmi target='0000:02:00.0' count='1' tclass='0x120000'/></gpu>"
      "</pci></cpu></system>",
      "");
  ASSERT_TRUE(reading.view);
  EXPECT_THAT(reading.findings, ElementsAre());
  EXPECT_EQ(reading.view->version, 2u);
  EXPECT_EQ(reading.view->gpus[0].gcn, "gfx942");
  EXPECT_EQ(reading.view->gpus[0].links[0].kind, GpuLinkKind::kXgmi);
}

TEST(XmlReaderTest, AnEmptyOrZeroSpeedIsUnknown) {
  const XmlReading reading = ReadXml(
      Within("<nic><net name='a' speed='0'/><net name='b' speed=''/><net name='c'/></nic>"), "");
  ASSERT_TRUE(reading.view);
  EXPECT_THAT(reading.findings, ElementsAre());
  for (const NetInterface& net : reading.view->nets)
    EXPECT_EQ(net.speed_mbit_per_s, std::nullopt) << net.name;
}

TEST(XmlReaderTest, NvLinkDomainsAreRead) {
  const XmlReading reading =
      ReadXml(InPci("<gpu fabric_cluster='000000000000000100000000000000ff' fabric_clique='7'/>"
                    "<gpu fabric_cluster='00000000000000000000000000000000'/>"),
              "");
  ASSERT_TRUE(reading.view);
  EXPECT_EQ(reading.view->gpus[0].fabric, (NvlinkFabric{{1, 0xff}, 7}));
  EXPECT_EQ(reading.view->gpus[1].fabric, std::nullopt);
  EXPECT_EQ(reading.findings.size(), 1u);
}

TEST(XmlReaderTest, AFileWithoutATopologyIsAnErrorWithAPosition) {
  EXPECT_THAT(ViewFromXml("<graphs/>", "g.xml").error().message,
              testing::AllOf(HasSubstr("g.xml:1:2: error:"), HasSubstr("NCCL_GRAPH_FILE")));
  EXPECT_THAT(ViewFromXml("<system version='1'>\n</cpu></system>", "g.xml").error().message,
              HasSubstr("g.xml:2:3: error: this is not XML"));
  EXPECT_THAT(ViewFromXml("<system version='1'/>", "").error().message, HasSubstr("no <cpu>"));
  EXPECT_THAT(ViewFromXml("", "e.xml").error().message, HasSubstr("the file is empty"));
}

TEST(XmlReaderTest, BoundsTheDepthOfPci) {
  std::string text = "<system version='1'><cpu numaid='0'>";
  for (std::size_t i = 0; i < 100; ++i) text += "<pci busid='0000:01:00.0'>";
  for (std::size_t i = 0; i < 100; ++i) text += "</pci>";
  const XmlReading reading = ReadXml(text + "</cpu></system>", "");
  ASSERT_TRUE(reading.view);
  EXPECT_EQ(reading.view->pci.size(), HostView::kDepthMax);
  EXPECT_EQ(reading.view->unknown_elements.size(), 1u);
}

TEST(XmlReaderTest, NeighboursHiddenByADriverAreUnknown) {
  const XmlReading reading =
      ReadXml(InPci("<gpu><nvlink target='0FFFFFFF:FF:FF.0' count='4'/>"
                    "<nvlink target='fffffff:ffff:ff' count='4'/><nvlink target='fffffff:ff:ff.0' "
                    "count='4'/><nvlink target='ffffffff:00:00.0' "
                    "count='4'/><nvlink target='0000:11:00.0' count='4'/></gpu>"),
              "");
  ASSERT_TRUE(reading.view);
  const std::vector<GpuLink>& links = reading.view->gpus[0].links;
  ASSERT_EQ(links.size(), 5u);
  for (const std::size_t hidden : {0u, 1u, 2u, 3u}) EXPECT_EQ(links[hidden].target, std::nullopt);
  EXPECT_EQ(links[4].target, BusId::Of(0, 0x11, 0, 0));
  ASSERT_EQ(reading.findings.size(), 2u);
  EXPECT_EQ(reading.findings[0].rule, "hidden-target");
  EXPECT_EQ(reading.findings[0].severity, Severity::kNote);
}

TEST(XmlReaderTest, AFileOf100MegabytesIsRefusedUnread) {
  std::string text = "<system version='1'>";
  text.resize(std::size_t{100} << 20, ' ');
  const XmlReading reading = ReadXml(text, "");
  EXPECT_FALSE(reading.view);
  ASSERT_EQ(reading.findings.size(), 1u);
  EXPECT_EQ(reading.findings[0].rule, "too-large");
}

TEST(XmlReaderTest, RefusesANestingOfTenThousandLevels) {
  std::string open, close;
  for (int i = 0; i < 10'000; ++i) {
    open += "<pci busid='0000:01:00.0'>";
    close += "</pci>";
  }
  for (const auto& [text, rule] : {std::pair("<system>" + open + close + "</system>", "too-deep"),
                                   std::pair("<system>" + open, "not-xml")}) {
    const XmlReading reading = ReadXml(text, "");
    EXPECT_FALSE(reading.view);
    ASSERT_EQ(reading.findings.size(), 1u);
    EXPECT_EQ(reading.findings[0].rule, rule);
  }
}

TEST(XmlReaderTest, RandomBytesAreRefused) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng random(seed);
    std::string text(std::size_t{1} << 20, '\0');
    for (char& c : text) c = static_cast<char>(random.Next());
    EXPECT_FALSE(ReadXml(text, "").view) << "seed " << seed;
    EXPECT_FALSE(ReadXml("<system version='1'><cpu numaid='0'>" + text, "").view) << seed;
  }
}

}  // namespace
}  // namespace ringlet::topology
