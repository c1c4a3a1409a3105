#include "tool/bench/bench_enter.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

std::string EnterErrorOf(std::vector<std::string> arguments) {
  CLI::App tool("ringlet");
  Action chosen;
  AddBenchEnter(tool, chosen);
  AddBenchReach(tool, chosen);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the arguments in reverse
  tool.parse(arguments);
  testing::internal::CaptureStderr();
  EXPECT_NE(chosen(), 0);
  return testing::internal::GetCapturedStderr();
}

TEST(BenchEnterTest, PassesOptionsToTheProgram) {
  EXPECT_THAT(EnterErrorOf({"enter", "/nowhere", "/bin/ls", "-l", "--all"}), HasSubstr("/nowhere"));
  EXPECT_THAT(EnterErrorOf({"enter", "/nowhere"}), HasSubstr("program to run is missing"));
  EXPECT_THAT(CommandInSpace("/space", {"ls", "-l"}),
              testing::ElementsAre("/proc/self/exe", "bench", "enter", "/space", "ls", "-l"));
}

TEST(BenchReachTest, AcceptsTheArgumentsOfSsh) {
  EXPECT_THAT(SshSubstituteCommand({"/a", "/b"}),
              testing::ElementsAre(testing::EndsWith("/exe"), "bench", "reach", "/a,/b"));
  EXPECT_THAT(EnterErrorOf({"reach", "/a,/b", "10.213.0.3", "ls", "-l"}),
              HasSubstr("no host has address 10.213.0.3"));
}

}  // namespace
}  // namespace ringlet::cli
