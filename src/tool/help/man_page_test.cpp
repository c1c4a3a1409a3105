#include "tool/help/man_page.hpp"

#include <gmock/gmock.h>

#include <cstdio>

#include "base/value/text.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "tool/commands.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

/// Runs a shell command line. Returns its output and standard error.
std::string OutputOf(const std::string& command) {
  std::FILE* const pipe = ::popen(("exec 2>&1; " + command).c_str(), "r");
  std::string text;
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe))
    text += static_cast<char>(letter);
  EXPECT_EQ(::pclose(pipe), 0) << command << ": " << text;
  return text;
}

std::vector<ManPage> Pages() {
  Action chosen;
  return ManPages(Describe(*MakeTool({}, chosen)));
}

TEST(ManPageTest, GroffGivesNoWarnings) {
  os::TempTree tree;
  const ToolRun ran = RunCommand({"help", "--man", tree.root()});
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  for (const ManPage& page : Pages())
    EXPECT_EQ(OutputOf("groff -man -Tutf8 -ww -z " + tree.At(page.file)), "") << page.file;
}

TEST(ManPageTest, ThePageContainsTheHelp) {
  os::TempTree tree;
  for (const ManPage& page : Pages()) tree.Write(page.file, page.text);
  const std::string page =
      OutputOf("groff -man -Tascii -P-cbou -rLL=400n " + tree.At("ringlet-topo.1"));
  EXPECT_THAT(page, HasSubstr("ringlet topo show [OPTIONS] [FILE]"));
  EXPECT_THAT(page,
              HasSubstr("ringlet topo show --synthetic \"2x(numa: 2x(switch: 2 gpu, 1 nic))\""));
  EXPECT_THAT(page, HasSubstr("--as-nccl"));
  EXPECT_THAT(page, HasSubstr("EXIT STATUS"));
}

TEST(ManPageTest, EachCommandHasItsPage) {
  const std::vector<ManPage> pages = Pages();
  for (const char* file : {"ringlet.1", "ringlet-bench.1", "ringlet-topo.1", "ringlet-predict.1"})
    EXPECT_EQ(std::ranges::count(pages, file, &ManPage::file), 1) << file;
  EXPECT_THAT(pages.front().text, HasSubstr(".BR ringlet\\-bench (1)"));
}

TEST(ManPageTest, EscapesLinesThatResembleRequests) {
  CLI::App tool("A tool", "ringlet");
  tool.add_subcommand("odd", ".so /etc/passwd \\ `x` 'y'")->add_subcommand("in", ".so x");
  const std::string page = ManPages(Describe(tool)).back().text;
  EXPECT_THAT(page, HasSubstr("\\- .so /etc/passwd \\e \\(gax\\(ga \\(aqy\\(aq\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.so x.\n"));
  for (const std::string_view line : Split(page, '\n')) EXPECT_FALSE(line.starts_with(".so"));
}

TEST(ManPageTest, AMissingFolderIsAFailure) {
  EXPECT_EQ(RunCommand({"help", "--man", "/no/such"}).status, kExitFailed);
}

}  // namespace
}  // namespace ringlet::cli
