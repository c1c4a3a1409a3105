// Benches in one process. test/integration has those with links, faults and several processes.
#include "tool/bench/bench.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tool/text/interrupted_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

ToolRun RunBench(const std::vector<std::string>& arguments,
                 const std::string& operation = "all_reduce") {
  return RunCommand({"bench", operation}, arguments);
}

TEST(BenchTest, ThreadsGiveATable) {
  const ToolRun ran = RunBench({"-n", "2", "--links", "inproc", "-e", "64", "-i", "2", "--check"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("2 threads"));
  EXPECT_THAT(ran.output, HasSubstr("Wrong elements       : 0 OK"));
}

TEST(BenchTest, ThreadsGiveJson) {
  const ToolRun ran = RunBench({"-n", "3", "--threads", "-e", "32", "-i", "2", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("ranks"), 3);
  EXPECT_EQ(json.at("rows").size(), 3u);
}

TEST(BenchTest, TheLauncherOverridesTheWorldSizeOfTheEnvironment) {
  ASSERT_EQ(::setenv("RINGLET_WORLD_SIZE", "1", 1), 0);
  const ToolRun ran = RunBench({"-n", "2", "-e", "64", "-i", "2", "--check"});
  ::unsetenv("RINGLET_WORLD_SIZE");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("2 processes"));
  EXPECT_THAT(ran.output, HasSubstr("Wrong elements       : 0 OK"));
}

// If Gloo was not built, Ringlet is measured alone.
TEST(BenchTest, AComparisonMergesItsRoundsIntoOneRowPerSize) {
  const ToolRun ran =
      RunBench({"-n", "2", "--vs", "gloo", "--rounds", "2", "-e", "32", "-i", "2", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("round 2 of 2: ringlet"));
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("rows").size(), 3u);
}

TEST(BenchTest, AnInterruptEndsTheBench) {
  const InterruptedForTest interrupted;
  const ToolRun ran = RunBench({"-n", "2"});
  EXPECT_EQ(ran.status, 128 + SIGINT);
  EXPECT_THAT(ran.errors, HasSubstr("ended by SIGINT"));
}

TEST(BenchTest, AWrongOptionIsAUsageError) {
  const ToolRun ran = RunBench({"-d", "float128"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("float128"));
  EXPECT_EQ(ran.output, "");
}

TEST(BenchTest, EveryOperationHasItsCommand) {
  for (const char* operation : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                                "all_to_all", "gather", "scatter", "send_receive", "barrier"}) {
    std::vector<std::string> arguments{"-n", "2", "--threads", "-i", "2"};
    if (std::string(operation) != "barrier")
      arguments.insert(arguments.end(), {"-e", "64", "--check"});
    const ToolRun ran = RunBench(arguments, operation);
    EXPECT_EQ(ran.status, 0) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr(std::string("ringlet bench ") + operation));
  }
}

}  // namespace
}  // namespace ringlet::cli
