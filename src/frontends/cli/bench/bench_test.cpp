// Links, faults and the ends of benches with processes are in test/integration.
#include "frontends/cli/bench/bench.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "frontends/cli/interrupted_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

struct Ran {
  int status;
  std::string output, errors;
};

Ran RunBench(std::vector<std::string> arguments, const std::string& operation = "all_reduce") {
  CLI::App tool("ringlet");
  Action chosen;
  AddBench(tool, chosen);
  arguments.insert(arguments.begin(), {"bench", operation});
  std::reverse(arguments.begin(), arguments.end());  // what CLI11 wants
  tool.parse(arguments);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = chosen();
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(BenchTest, ThreadsGiveATable) {
  const Ran ran = RunBench({"-n", "2", "--links", "inproc", "-e", "64", "-i", "2", "--check"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("2 threads"));
  EXPECT_THAT(ran.output, HasSubstr("Wrong elements       : 0 OK"));
}

TEST(BenchTest, ThreadsGiveJson) {
  const Ran ran = RunBench({"-n", "3", "--threads", "-e", "32", "-i", "2", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("ranks"), 3);
  EXPECT_EQ(json.at("rows").size(), 3u);
}

TEST(BenchTest, ProcessesAreToldHowManyTheyAreWhateverElseIsSaid) {
  ASSERT_EQ(::setenv("RINGLET_WORLD_SIZE", "1", 1), 0);
  const Ran ran = RunBench({"-n", "2", "-e", "64", "-i", "2", "--check"});
  ::unsetenv("RINGLET_WORLD_SIZE");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("2 processes"));
  EXPECT_THAT(ran.output, HasSubstr("Wrong elements       : 0 OK"));
}

// Where Gloo was not built, Ringlet takes its turns alone.
TEST(BenchTest, BesideOthersOneRowASizeIsLeftOfAllRounds) {
  const Ran ran =
      RunBench({"-n", "2", "--vs", "gloo", "--rounds", "2", "-e", "32", "-i", "2", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("round 2 of 2: ringlet"));
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("rows").size(), 3u);
}

TEST(BenchTest, TheUserMayEndIt) {
  const InterruptedForTest interrupted;
  const Ran ran = RunBench({"-n", "2"});
  EXPECT_EQ(ran.status, 128 + SIGINT);
  EXPECT_THAT(ran.errors, HasSubstr("ended by SIGINT"));
}

TEST(BenchTest, AWrongOptionIsAUsageError) {
  const Ran ran = RunBench({"-d", "float128"});
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
    const Ran ran = RunBench(arguments, operation);
    EXPECT_EQ(ran.status, 0) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr(std::string("ringlet bench ") + operation));
  }
}

}  // namespace
}  // namespace ringlet::cli
