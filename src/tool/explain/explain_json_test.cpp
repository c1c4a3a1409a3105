#include "tool/explain/explain_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

TEST(ExplainJsonTest, ContainsTheMachineTheSearchAndBothPlans) {
  const std::string file = Fixture("topo-vectors/gpu2-nic2.xml");
  const ToolRun ran = RunCommand({"explain", file, "--hosts", "2", "--json"});
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("machine").at("gpus"), 2);
  EXPECT_EQ(json.at("machine").at("network_ports"), 2);
  std::size_t pairs = 0;
  for (const auto& path : json.at("machine").at("paths"))
    pairs += path.at("count").get<std::size_t>();
  EXPECT_EQ(pairs, 2u + 4u) << "of GPUs, and of GPUs and ports";
  EXPECT_FALSE(json.at("search").empty());
  auto plan = nlohmann::json::parse(RunCommand({"plan", file, "--hosts", "2", "--json"}).output);
  EXPECT_EQ(json.at("plan").at("digest"), plan.at("digest"));
  EXPECT_EQ(json.at("nccl").at("policy"), "compat");
}

TEST(ExplainJsonTest, TheComparisonIsNullWhenItIsOff) {
  const ToolRun ran = RunCommand(
      {"explain", Fixture("topo-vectors/gpu2-nic2.xml"), "--policy", "compat", "--json"});
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  EXPECT_TRUE(nlohmann::json::parse(ran.output).at("nccl").is_null());
}

}  // namespace
}  // namespace ringlet::cli
