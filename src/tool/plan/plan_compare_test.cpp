#include "tool/plan/plan_compare.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kChange = {"plan",
                                          "--hosts",
                                          "2",
                                          "--what-if",
                                          "NICs rate=200Gb/s",
                                          "--synthetic",
                                          "(switch: 2 gpu, 1 nic 100g)"};

TEST(PlanCompareTest, ShowsBothPlansSideBySide) {
  const ToolRun ran = RunCommand(kChange);
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("\nwhat if: NICs rate=200Gb/s\n"));
  EXPECT_THAT(ran.output, testing::ContainsRegex("together +12.5 GB/s +2[0-9.]+ GB/s \\(\\+"));
  EXPECT_THAT(ran.output, HasSubstr("\nwithout: limited by: "));
  EXPECT_THAT(ran.output, HasSubstr("\nwith:    limited by: "));
}

TEST(PlanCompareTest, JsonHasBothPlans) {
  const ToolRun ran = RunCommand(kChange, {"--json"});
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("what_if").at(0), "NICs rate=200Gb/s");
  EXPECT_LT(json.at("without").at("ring").at("total_gb_s"),
            json.at("with").at("ring").at("total_gb_s"));
  EXPECT_FALSE(json.at("with").at("ring").at("limited_by").empty());
}

TEST(PlanCompareTest, AFileMayFollowAChange) {
  const ToolRun ran =
      RunCommand({"plan", "--what-if", "remove GPU1", Fixture("topo-vectors/gpu2-nic2.xml")});
  EXPECT_EQ(ran.status, kExitDone) << ran.errors;
  EXPECT_THAT(ran.output, testing::ContainsRegex("ranks +2 +1\n"));
}

TEST(PlanCompareTest, AnInvalidChangeIsAnError) {
  const ToolRun bad =
      RunCommand({"plan", "--what-if", "GPU9 pcie=gen5x16", "--synthetic", "2 gpu"});
  EXPECT_EQ(bad.status, kExitUsage);
  EXPECT_THAT(bad.errors, HasSubstr("--what-if \"GPU9 pcie=gen5x16\": no part is called"));
}

}  // namespace
}  // namespace ringlet::cli
