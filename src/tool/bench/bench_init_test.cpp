#include "tool/bench/bench_init.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/text/interrupted_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

ToolRun RunInit(const std::vector<std::string>& arguments) {
  return RunCommand({"bench", "init"}, arguments);
}

TEST(BenchInitTest, PrintsARowForEachNumberOfRanks) {
  const ToolRun ran = RunInit({"-n", "2,5", "-i", "2"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("medians of 2 repetitions"));
  EXPECT_THAT(ran.output, HasSubstr("\n       2 tree   threads     1 |"));
  EXPECT_THAT(ran.output, HasSubstr("\n       5 tree   threads     1 |"));
}

TEST(BenchInitTest, PrintsJsonForARing) {
  const ToolRun ran = RunInit({"-n", "3", "--mode", "ring", "-i", "1", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("n"), 3);
  EXPECT_EQ(json.at("mode"), "ring");
  EXPECT_EQ(json.at("repetitions").size(), 1u);
}

TEST(BenchInitTest, RunsRanksAsProcesses) {
  const ToolRun ran = RunInit({"-n", "2", "--as", "processes", "-i", "1"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("\n       2 tree processes     2 |"));
}

TEST(BenchInitTest, SpreadsThreadRanksOverProcesses) {
  const ToolRun ran = RunInit({"-n", "5", "--processes", "2", "-i", "1"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("\n       5 tree   threads     2 |"));
}

TEST(BenchInitTest, AnInterruptEndsTheBench) {
  const InterruptedForTest interrupted;
  const ToolRun ran = RunInit({"-n", "2", "--as", "processes"});
  EXPECT_EQ(ran.status, 128 + SIGINT);
  EXPECT_THAT(ran.errors, HasSubstr("ended by SIGINT"));
}

TEST(BenchInitTest, AnUnknownChoiceIsAUsageError) {
  const ToolRun ran = RunInit({"--leaders", "--each"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("--leaders"));
  EXPECT_EQ(ran.output, "");
}

}  // namespace
}  // namespace ringlet::cli
