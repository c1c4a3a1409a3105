#include "ringlet/topology.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "topology_api/contents.hpp"
#include "topology_api/fixture_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char* const kDgx = "topologies/nvidia/dgx_a100_keysight.topo.xml";

std::string TextOfFile(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(TopologyTest, LoadsAFileAndListsItsDevices) {
  const Topology topology = Topology::Load(FixturePath("topo-vectors/pcie4-1nic.xml")).value();
  EXPECT_THAT(topology.name(), testing::EndsWith("pcie4-1nic.xml"));
  const std::vector<Device> devices = topology.Devices().value();
  std::vector<std::string> names;
  for (const Device& device : devices) names.push_back(device.name);
  EXPECT_THAT(names, ElementsAre("GPU0", "GPU1", "GPU2", "GPU3", "mlx5_0", "NUMA0"));
  EXPECT_EQ(devices[4].type, Device::Type::kPort);
  EXPECT_EQ(devices[4].bus, "0000:13:00.0");
  EXPECT_EQ(devices[5].bus, "");
}

TEST(TopologyTest, ANicWithoutAPciFunctionHasNoAddress) {
  const Topology topology =
      Topology::Parse(
          "<system version=\"1\"><cpu numaid=\"1\" affinity=\"ff\" arch=\"x86_64\" "
          "vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\"><nic><net "
          "name=\"eth0\" dev=\"0\" speed=\"10000\"/></nic></cpu></system>",
          "eth.xml")
          .value();
  const std::vector<Device> devices = topology.Devices().value();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices[0].name, "eth0");
  EXPECT_EQ(devices[0].bus, "");
}

TEST(TopologyTest, RefusesWhatIsNotATopology) {
  EXPECT_EQ(Topology::Load("/nonexistent.xml").error().code, Code::kInvalidArgument);
  const Result<Topology> text = Topology::Parse("<html/>", "page.html");
  EXPECT_EQ(text.error().code, Code::kInvalidArgument);
  EXPECT_THAT(text.error().message, HasSubstr("page.html:1:"));
  EXPECT_FALSE(Topology::Parse("", "empty").ok());
  EXPECT_THAT(Topology::Describe("2x(numa: 1 gqu)").error().message, HasSubstr("12"));
}

TEST(TopologyTest, WritesATextThatReadsAsTheSameTopology) {
  const Topology topology = Topology::Load(FixturePath(kDgx)).value();
  const Topology again = Topology::Parse(topology.ToXml(), topology.name()).value();
  EXPECT_EQ(again.contents().view, topology.contents().view);
  EXPECT_EQ(again.ToXml(), topology.ToXml());
}

TEST(TopologyTest, DescribesAMachineInWords) {
  const Topology topology = Topology::Describe("2x(numa: 2x(switch: 2 gpu, 1 nic))").value();
  EXPECT_EQ(topology.Devices()->size(), 8u + 4u + 2u);
  EXPECT_EQ(topology.name(), "2x(numa: 2x(switch: 2 gpu, 1 nic))");
}

TEST(TopologyTest, DetectsThisHost) {
  const Result<Topology> topology = Topology::Detect();
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  EXPECT_EQ(topology->name(), "this machine");
  EXPECT_THAT(topology->ToXml(), HasSubstr("<cpu host_hash="));
}

TEST(TopologyTest, LintsATextThatParseRefuses) {
  const std::vector<Finding> findings = Lint("<system version=\"1\"><cpu", "cut.xml");
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().severity, Severity::kError);
  EXPECT_THAT(TextOf(findings.front()), testing::StartsWith("cut.xml:1:"));
}

TEST(TopologyTest, TheMistakesOfAFileAreThoseOfItsText) {
  const std::string path = FixturePath("topologies/nvidia/ndv4.topo.xml");
  const std::vector<Finding> of_text = Lint(TextOfFile(path), path);
  const std::vector<Finding> of_file = Lint(Topology::Load(path).value());
  EXPECT_FALSE(of_text.empty());
  EXPECT_EQ(of_file, of_text);
}

}  // namespace
}  // namespace ringlet::topology
