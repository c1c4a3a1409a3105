#include "frontends/cli/tool.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Ran {
  int status;
  std::string output, errors;
};

Ran Tool(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = RunTool(arguments);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(ToolTest, HelpNamesEveryCommand) {
  const Ran ran = Tool({"--help"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("bench"), HasSubstr("run"), HasSubstr("env"), HasSubstr("version")));
}

TEST(ToolTest, EveryCommandHasHelp) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"bench"},
                                                  {"bench", "all_reduce"},
                                                  {"run"},
                                                  {"topo"},
                                                  {"topo", "show"},
                                                  {"topo", "lint"},
                                                  {"env"},
                                                  {"version"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const Ran ran = Tool(arguments);
    EXPECT_EQ(ran.status, 0) << command.front();
    EXPECT_THAT(ran.output, HasSubstr("Usage: "));
  }
}

TEST(ToolTest, AnUnknownCommandIsNamed) {
  const Ran ran = Tool({"dance"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("\"dance\""));
  EXPECT_EQ(ran.output, "");
}

TEST(ToolTest, UnknownOptionsAreNamed) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--odd"},
                                                    {"env", "--odd"},
                                                    {"bench", "all_reduce", "--odd"},
                                                    {"run", "-n", "2", "--odd", "true"}}) {
    const Ran ran = Tool(arguments);
    EXPECT_EQ(ran.status, 2) << arguments.front();
    EXPECT_THAT(ran.errors, HasSubstr("--odd"));
    EXPECT_EQ(ran.output, "");
  }
}

TEST(ToolTest, WithoutACommandItSaysWhatToDo) {
  const Ran ran = Tool({});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("--help"));
}

TEST(ToolTest, ACommandRuns) {
  const Ran ran = Tool({"version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("ringlet "));
}

}  // namespace
}  // namespace ringlet::cli
