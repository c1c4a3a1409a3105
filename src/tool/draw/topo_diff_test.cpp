#include "tool/draw/topo_diff.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoDiffTest, NamesTheDifferencesOfTheOldAzureFile) {
  const ToolRun ran =
      RunCommand({"topo", "diff", Fixture("topologies/nvidia/ndv4.topo.xml"),
                  Fixture("topologies/broken/azure_ndv4_v2_wrong_numa_affinity.topo.xml")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("NUMA node 0: the set of CPUs is 0-23 in the first, 0-15,32-47 "
                                    "in the second\n"));
  EXPECT_THAT(
      ran.output,
      HasSubstr("PCI function 0003:00:00.0: the place is below PCI function ffff:ff:01.0 in "
                "the first, below PCI function ffff:ff:02.0 in the second\n"));
}

TEST(TopoDiffTest, ComparesDescriptions) {
  EXPECT_EQ(RunCommand({"topo", "diff", "(numa: gpu)", "(numa:gpu)"}).status, 0);
  EXPECT_EQ(RunCommand({"topo", "diff", "(numa: gpu)", "(numa: nic)"}).status, 1);
}

TEST(TopoDiffTest, JsonListsTheDifferences) {
  const ToolRun same = RunCommand({"topo", "diff", "--json", "(numa: gpu)", "(numa: gpu)"});
  EXPECT_EQ(same.status, kExitDone);
  EXPECT_EQ(nlohmann::json::parse(same.output), nlohmann::json::parse(R"({"equal": true,
      "differences": []})"));
  const ToolRun other = RunCommand({"topo", "diff", "--json", "(numa: gpu)", "(numa: 2 gpu)"});
  EXPECT_EQ(other.status, kExitFailed);
  const auto json = nlohmann::json::parse(other.output);
  EXPECT_EQ(json.at("equal"), false);
  EXPECT_GE(json.at("differences").size(), 1u);
}

TEST(TopoDiffTest, NamesAnUnreadableFile) {
  const ToolRun ran = RunCommand({"topo", "diff", "(numa: gpu)", "no/such.xml"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("no/such.xml"));
}

}  // namespace
}  // namespace ringlet::cli
