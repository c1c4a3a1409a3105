#include "tool/help/help.hpp"

#include <gmock/gmock.h>

#include "tool/help/exit_status.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(HelpTest, HelpOfACommandEqualsItsOption) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{},
                                                  {"bench"},
                                                  {"bench", "all_reduce"},
                                                  {"topo", "show"},
                                                  {"run"}}) {
    std::vector<std::string> asked = command, optioned = command;
    asked.insert(asked.begin(), "help");
    optioned.push_back("--help");
    const ToolRun ran = RunCommand(asked);
    EXPECT_EQ(ran.status, kExitDone);
    EXPECT_EQ(ran.output, RunCommand(optioned).output);
    EXPECT_THAT(ran.output, HasSubstr("Usage: "));
  }
}

TEST(HelpTest, SortsExclusionsOfOptions) {
  EXPECT_THAT(RunCommand({"topo", "show", "--help"}).output, HasSubstr("--root, --synthetic)"));
}

TEST(HelpTest, NamesTheCommandNearestToAnUnknownOne) {
  const ToolRun ran = RunCommand({"help", "bench", "all_reduc"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_EQ(ran.output, "");
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("\"all_reduc\""), HasSubstr("did you mean all_reduce?")));
  EXPECT_THAT(RunCommand({"help", "exit-code"}).errors, HasSubstr("did you mean exit-codes?"));
}

TEST(HelpTest, ExitCodesAreATable) {
  const ToolRun ran = RunCommand({"help", "exit-codes"});
  EXPECT_EQ(ran.status, kExitDone);
  for (const auto& [status, meaning] : ExitStatusMeanings())
    EXPECT_THAT(ran.output, AllOf(HasSubstr(status), HasSubstr(meaning)));
}

TEST(HelpTest, VersionIsAlsoAnOption) {
  const ToolRun ran = RunCommand({"--version"});
  EXPECT_EQ(ran.status, kExitDone);
  EXPECT_EQ(ran.output, RunCommand({"version"}).output);
}

}  // namespace
}  // namespace ringlet::cli
