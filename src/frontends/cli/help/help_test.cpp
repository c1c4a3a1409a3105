#include "frontends/cli/help/help.hpp"

#include <gmock/gmock.h>

#include "frontends/cli/help/exit_status.hpp"
#include "frontends/cli/tool.hpp"

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

TEST(HelpTest, HelpOfACommandIsWhatItsOptionShows) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{},
                                                  {"bench"},
                                                  {"bench", "all_reduce"},
                                                  {"topo", "show"},
                                                  {"run"}}) {
    std::vector<std::string> asked = command, optioned = command;
    asked.insert(asked.begin(), "help");
    optioned.push_back("--help");
    const Ran ran = Tool(asked);
    EXPECT_EQ(ran.status, kExitDone);
    EXPECT_EQ(ran.output, Tool(optioned).output);
    EXPECT_THAT(ran.output, HasSubstr("Usage: "));
  }
}

TEST(HelpTest, OptionsThatExcludeEachOtherAreSorted) {
  EXPECT_THAT(Tool({"topo", "show", "--help"}).output, HasSubstr("Excludes: --root --synthetic\n"));
}

TEST(HelpTest, UnknownCommandsAreNamedWithTheNearest) {
  const Ran ran = Tool({"help", "bench", "allreduce"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_EQ(ran.output, "");
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("\"allreduce\""), HasSubstr("did you mean all_reduce?")));
  EXPECT_THAT(Tool({"help", "exit-code"}).errors, HasSubstr("did you mean exit-codes?"));
}

TEST(HelpTest, ExitCodesAreOneTable) {
  const Ran ran = Tool({"help", "exit-codes"});
  EXPECT_EQ(ran.status, kExitDone);
  for (const auto& [status, meaning] : kExitStatusMeanings)
    EXPECT_THAT(ran.output, AllOf(HasSubstr(std::string(status)), HasSubstr(std::string(meaning))));
}

TEST(HelpTest, VersionIsAnOptionToo) {
  const Ran ran = Tool({"--version"});
  EXPECT_EQ(ran.status, kExitDone);
  EXPECT_EQ(ran.output, Tool({"version"}).output);
}

}  // namespace
}  // namespace ringlet::cli
