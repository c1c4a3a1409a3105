#include "tool/bench/bench_reform.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

ToolRun RunReform(const std::vector<std::string>& arguments) {
  return RunCommand({"bench", "reform"}, arguments);
}

TEST(BenchReformTest, MeasuresEachNumberOfRanks) {
  const ToolRun ran = RunReform({"-n", "2,5", "-i", "2"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("medians of 2, and the worst"));
  EXPECT_THAT(ran.output, HasSubstr("\n       2     1 "));
  EXPECT_THAT(ran.output, HasSubstr("\n       5     1 "));
}

TEST(BenchReformTest, StepsOfARecoveryAreInOrder) {
  const ToolRun ran =
      RunReform({"-n", "6", "--kill", "3", "--which", "first", "-i", "2", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("n"), 6);
  EXPECT_EQ(json.at("die"), 3);
  ASSERT_EQ(json.at("repetitions").size(), 2u);
  for (const auto& one : json.at("repetitions")) {
    EXPECT_LE(one.at("told_ms"), one.at("agreed_ms"));
    EXPECT_LE(one.at("agreed_ms"), one.at("rebuilt_ms"));
    EXPECT_LE(one.at("rebuilt_ms"), one.at("first_result_ms"));
  }
}

TEST(BenchReformTest, EachRankOfAnEmulatedMachineHasADevice) {
  const char* const kMachine = "RINGLET_MACHINE";
  ::setenv(kMachine, Fixture("topo-vectors/nvswitch8-sm90.xml").c_str(), 1);
  const ToolRun ran = RunReform({"-n", "3", "-i", "1"});
  ::unsetenv(kMachine);
  EXPECT_EQ(ran.status, 0) << ran.errors;
}

TEST(BenchReformTest, ARankMustBeLeft) {
  const ToolRun ran = RunReform({"-n", "3", "--kill", "3"});
  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.errors, HasSubstr("--kill 3 leaves no rank of 3"));
}

}  // namespace
}  // namespace ringlet::cli
