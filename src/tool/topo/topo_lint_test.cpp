#include "tool/topo/topo_lint.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

TEST(TopoLintTest, AHealthyFileGivesZeroFindings) {
  const ToolRun ran = RunCommand({"topo", "lint", Fixture("topologies/nvidia/ucb_dgx1v.topo.xml")});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, EndsWith("0 errors, 0 warnings, 0 notes\n"));
}

TEST(TopoLintTest, AFindingNamesItsPlaceAndReason) {
  const std::string file = Fixture("topologies/broken/azure_ncv4_current_selfloop.topo.xml");
  const ToolRun ran = RunCommand({"topo", "lint", file});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr(file + ":5:17: error: system/cpu[0]/pci[0001:00:00.0]/gpu/nvlink"),
                    HasSubstr("leads to itself"), HasSubstr("4 errors")));
}

TEST(TopoLintTest, CountsManyFindingsOfARuleUnlessAllAreRequested) {
  const std::string file = Fixture("topologies/broken/modal_b200_vm_v3_pairwise_nvlink.topo.xml");
  EXPECT_THAT(RunCommand({"topo", "lint", file}).output,
              HasSubstr("and 51 more of [nvlink-odd-class]"));
  EXPECT_THAT(RunCommand({"topo", "lint", "--all", file}).output,
              testing::Not(HasSubstr(" more of [")));
}

TEST(TopoLintTest, JsonHasAllFields) {
  const ToolRun ran =
      RunCommand({"topo", "lint", "--json",
                  Fixture("topologies/broken/azure_ncv4_current_selfloop.topo.xml")});
  EXPECT_EQ(ran.status, 1);
  const auto json = nlohmann::json::parse(ran.output);
  const auto loop = std::find_if(json.begin(), json.end(), [](const auto& finding) {
    return finding.at("rule") == "nvlink-self-loop";
  });
  ASSERT_NE(loop, json.end());
  EXPECT_EQ(loop->at("severity"), "error");
  EXPECT_EQ(loop->at("line"), 5);
  EXPECT_EQ(loop->at("column"), 17);
  EXPECT_EQ(loop->at("path"), "system/cpu[0]/pci[0001:00:00.0]/gpu/nvlink[0001:00:00.0]");
  EXPECT_FALSE(loop->at("cure").get<std::string>().empty());
}

TEST(TopoLintTest, StrictModeFailsOnWarnings) {
  const std::string file = Fixture("topo-vectors/unknown-cpu-vendor.xml");
  EXPECT_EQ(RunCommand({"topo", "lint", file}).status, 0);
  EXPECT_EQ(RunCommand({"topo", "lint", "--strict", file}).status, 1);
}

TEST(TopoLintTest, PreCommitModePrintsOnlyFindingsOfTopologies) {
  const std::string good = Fixture("topologies/nvidia/ndv4.topo.xml");  // has a note
  const std::string graph = Fixture("topologies/graphs/ucb_dgx1v_graph.graph.xml");
  const std::string bad = Fixture("topologies/broken/azure_ncv4_current_selfloop.topo.xml");
  const ToolRun fine = RunCommand({"topo", "lint", "--pre-commit", good, graph});
  EXPECT_EQ(fine.status, 0);
  EXPECT_EQ(fine.output, "");
  const ToolRun ran = RunCommand({"topo", "lint", "--pre-commit", good, bad});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, testing::StartsWith(bad + ":5:17: error: "));
}

TEST(TopoLintTest, EachOfSeveralFilesHasASummary) {
  const std::string good = Fixture("topologies/nvidia/ucb_dgx1v.topo.xml");
  const ToolRun ran = RunCommand({"topo", "lint", good, good});
  EXPECT_EQ(ran.status, 0);
  const std::string line = good + ": 0 errors, 0 warnings, 0 notes\n";
  EXPECT_EQ(ran.output, line + line);
}

TEST(TopoLintTest, PredictsTheFusedSizeForTheGivenRanks) {
  const std::string file = Fixture("topologies/nvidia/dgx_a100_xla.topo.xml");
  const ToolRun few = RunCommand({"topo", "lint", "--ranks", "8", file});
  EXPECT_EQ(few.status, 0);
  EXPECT_THAT(few.output, AllOf(HasSubstr("8 ranks on one host fuse to "), HasSubstr("[fused]")));
  const ToolRun many = RunCommand({"topo", "lint", "--ranks", "64", file});
  EXPECT_EQ(many.status, 1);
  EXPECT_THAT(many.output, HasSubstr("[too-many-fused]"));
}

TEST(TopoLintTest, ChecksAGraphFileAgainstTheTopology) {
  const ToolRun ran =
      RunCommand({"topo", "lint", Fixture("topologies/nvidia/nc48v4.topo.xml"), "--graph",
                  Fixture("topologies/graphs/ucb_dgx1v_graph.graph.xml")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("[graph]"));
}

TEST(TopoLintTest, NamesAMissingFile) {
  const ToolRun ran = RunCommand({"topo", "lint", "no/such.xml"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("no/such.xml"));
}

}  // namespace
}  // namespace ringlet::cli
