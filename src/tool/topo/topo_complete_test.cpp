#include "tool/topo/topo_complete.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"
#include "topo/lint/lint.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoCompleteTest, CompletesSkeletonsOfKnownMachines) {
  for (const auto& [file, machine] : {std::pair("ndv2", "azure-nd40rs-v2"),
                                      {"ndv4", "azure-nd96asr-v4"},
                                      {"ndv5", "azure-nd96isr-h100-v5"},
                                      {"p4d-24xl", "aws-p4d.24xlarge"},
                                      {"p4de-24xl", "aws-p4de.24xlarge"},
                                      {"soperator_h100", "nebius-h100"},
                                      {"topo-flattened", "oci-bm.gpu4.8"},
                                      {"dgxa100_nic_affinity.bert", "dgx-a100"}}) {
    const ToolRun ran = RunCommand({"topo", "complete",
                                    Fixture("topologies/nvidia/" + std::string(file) + ".topo.xml"),
                                    "--machine", machine});
    EXPECT_EQ(ran.status, 0) << file << ran.errors;
    const topology::LintReport report = topology::LintXml(ran.output, "");
    ASSERT_TRUE(report.view) << file;
    EXPECT_EQ(report.view->gpus.size(), 8u) << file;
    EXPECT_FALSE(report.view->gpus[0].links.empty()) << file;
    EXPECT_FALSE(report.view->nets.empty()) << file;
    EXPECT_FALSE(HasError(report.findings)) << file << ToText(report.findings, 9);
  }
}

TEST(TopoCompleteTest, OptionsCompleteAnUnknownMachine) {
  const ToolRun ran =
      RunCommand({"topo", "complete", Fixture("topologies/nvidia/ndv4.topo.xml"), "--gpu",
                  "a100-pcie", "--nvlink", "pairs", "--nic-speed", "100000"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("count=\"12\" tclass=\"0x030200\""));
  EXPECT_THAT(ran.output, HasSubstr("speed=\"100000\""));
  EXPECT_THAT(ran.errors, HasSubstr("8 GPUs were added"));
}

TEST(TopoCompleteTest, NamesUnknownParts) {
  const std::string file = Fixture("topologies/nvidia/ndv4.topo.xml");
  EXPECT_THAT(RunCommand({"topo", "complete", file}).errors, HasSubstr("is unknown; name it"));
  EXPECT_THAT(RunCommand({"topo", "complete", file, "--machine", "cray-1"}).errors,
              HasSubstr("cray-1"));
  EXPECT_THAT(RunCommand({"topo", "complete", file, "--gpu", "z9"}).errors, HasSubstr("z9"));
  EXPECT_THAT(RunCommand({"topo", "complete", file, "--nvlink", "ring"}).errors,
              HasSubstr("cube-mesh"));
}

TEST(TopoCompleteTest, PrintsTheListAsJson) {
  const ToolRun ran = RunCommand({"topo", "complete", "--list", "--json"});
  EXPECT_EQ(ran.status, kExitDone) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("gpus").size(), topology::GpuModels().size());
  for (const auto& machine : json.at("machines")) EXPECT_NE(machine.at("source"), "");
  EXPECT_EQ(RunCommand({"topo", "complete", "--json"}).status, kExitUsage);
}

TEST(TopoCompleteTest, TheListNamesItsSources) {
  const ToolRun ran = RunCommand({"topo", "complete", "--list"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("learn.microsoft.com"));
}

}  // namespace
}  // namespace ringlet::cli
