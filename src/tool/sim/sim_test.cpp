#include "tool/sim/sim.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ToolRun Sim(const std::vector<std::string>& arguments) {
  return RunCommand({"sim", "init"}, arguments);
}

TEST(SimTest, PrintsARowPerSize) {
  const ToolRun ran = Sim({"-n", "1,64"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("6log2N"), HasSubstr("\n        1 "), HasSubstr("\n       64 ")));
  EXPECT_EQ(ran.errors, "");
}

TEST(SimTest, JsonIsAnObjectWithTimeAndMemory) {
  const ToolRun ran = Sim({"-n", "16,32", "--json", "--seed", "9"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("seed"), 9);
  EXPECT_EQ(json.at("rows").size(), 2u);
  EXPECT_EQ(json.at("rows").at(1).at("standing"), 32);
  EXPECT_GT(json.at("rows").at(1).at("wall_s"), 0.0);
  EXPECT_GT(json.at("rows").at(1).at("memory_bytes"), 1'000'000);
}

TEST(SimTest, InjectedFaultsDoNotFailTheTool) {
  const ToolRun ran = Sim({"-n", "16", "--each", "--faults", "kill:3@0.1ms"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("# faults: kill:3@0.1ms"),
                                HasSubstr("15 failed, 1 were killed"), HasSubstr("15 x from")));
}

TEST(SimTest, AnIncompleteRunWithoutFaultsFails) {
  const ToolRun ran = Sim({"-n", "16", "--until", "0.1ms"});
  EXPECT_EQ(ran.status, kExitFailed);
  EXPECT_THAT(ran.errors, HasSubstr("only 0 of 16 ranks completed"));
}

TEST(SimTest, WritesATrace) {
  const std::string path = testing::TempDir() + "sim_test_trace.json";
  const ToolRun ran = Sim({"-n", "16", "--trace", path});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  std::FILE* file = std::fopen(path.c_str(), "r");
  ASSERT_NE(file, nullptr);
  const auto json = nlohmann::json::parse(file);
  std::fclose(file);
  std::remove(path.c_str());
  EXPECT_GT(json.at("traceEvents").size(), 16u);
}

TEST(SimTest, AnImpossibleSimulationNamesTheReason) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"-n", "none"}, "\"none\""},
      {{"-n", "16", "--roots", "17"}, "--roots 17"},
      {{"-n", "16", "--trace", "/nowhere/file"}, "cannot write \"/nowhere/file\""},
  };
  for (const auto& [arguments, why] : cases) {
    const ToolRun ran = Sim(arguments);
    EXPECT_NE(ran.status, 0) << why;
    EXPECT_THAT(ran.errors, HasSubstr(why));
    EXPECT_EQ(ran.output, "");
  }
}

}  // namespace
}  // namespace ringlet::cli
