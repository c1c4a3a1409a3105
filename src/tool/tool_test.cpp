#include "tool/tool.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ToolTest, HelpNamesEveryCommand) {
  const ToolRun ran = RunCommand({"--help"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("bench"), HasSubstr("run"), HasSubstr("sim"),
                                HasSubstr("env"), HasSubstr("version")));
}

TEST(ToolTest, EveryCommandHasHelp) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"bench"},
                                                  {"bench", "all_reduce"},
                                                  {"bench", "init"},
                                                  {"run"},
                                                  {"sim"},
                                                  {"sim", "init"},
                                                  {"topo"},
                                                  {"topo", "show"},
                                                  {"topo", "lint"},
                                                  {"env"},
                                                  {"version"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const ToolRun ran = RunCommand(arguments);
    EXPECT_EQ(ran.status, 0) << command.front();
    EXPECT_THAT(ran.output, HasSubstr("Usage: "));
  }
}

TEST(ToolTest, NamesAnUnknownCommand) {
  const ToolRun ran = RunCommand({"dance"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("\"dance\""));
  EXPECT_EQ(ran.output, "");
}

TEST(ToolTest, NamesUnknownOptions) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--odd"},
                                                    {"env", "--odd"},
                                                    {"bench", "all_reduce", "--odd"},
                                                    {"run", "-n", "2", "--odd", "true"}}) {
    const ToolRun ran = RunCommand(arguments);
    EXPECT_EQ(ran.status, 2) << arguments.front();
    EXPECT_THAT(ran.errors, HasSubstr("--odd"));
    EXPECT_EQ(ran.output, "");
  }
}

TEST(ToolTest, WithoutACommandRecommendsTheHelp) {
  const ToolRun ran = RunCommand({});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("--help"));
}

TEST(ToolTest, AGroupOfCommandsListsThem) {
  for (const char* const command : {"topo", "sim"}) {
    const ToolRun ran = RunCommand({command});
    EXPECT_EQ(ran.status, kExitUsage);
    EXPECT_THAT(ran.errors, HasSubstr(std::string("ringlet ") + command + ": name a command: "));
  }
}

TEST(ToolTest, OutputThatCannotBeWrittenIsAFailure) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"version"},
                                                  {"env"},
                                                  {"version", "--json"},
                                                  {"help", "exit-codes"}}) {
    testing::internal::CaptureStderr();
    std::fflush(stdout);
    const int kept = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    dup2(full, STDOUT_FILENO);
    const int status = RunTool(command);
    std::clearerr(stdout);
    dup2(kept, STDOUT_FILENO);
    close(full);
    close(kept);
    EXPECT_EQ(status, kExitFailed) << command.front();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("No space left on device"));
  }
}

TEST(ToolTest, RunsACommand) {
  const ToolRun ran = RunCommand({"version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("ringlet "));
}

}  // namespace
}  // namespace ringlet::cli
