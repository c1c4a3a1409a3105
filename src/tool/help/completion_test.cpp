#include "tool/help/completion.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/value/text.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "tool/commands.hpp"

namespace ringlet::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

CommandDescription Tool() {
  Action chosen;
  return Describe(*MakeTool({}, chosen));
}

bool IsInstalled(const std::string& program) {
  std::error_code ignored;
  return std::filesystem::exists("/usr/bin/" + program, ignored) ||
         std::filesystem::exists("/bin/" + program, ignored);
}

/// Runs a shell command line. Returns its output and errors, with the exit status as last line.
std::vector<std::string> LinesOf(const std::string& command) {
  std::FILE* const pipe = ::popen(("exec 2>&1; " + command).c_str(), "r");
  std::string text;
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe))
    text += static_cast<char>(letter);
  const int status = ::pclose(pipe);
  std::vector<std::string> lines;
  for (const std::string_view line : Split(Trim(text), '\n'))
    if (!line.empty()) lines.emplace_back(line);
  lines.push_back("status " + std::to_string(status));
  return lines;
}

class BashCompletionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsInstalled("bash")) GTEST_SKIP() << "bash is not installed";
    tree_.Write("ringlet.bash", BashCompletion(Tool()));
    tree_.Write("machine.xml", "");
  }

  /// Returns bash's completions for the last of `words`, which follow "ringlet".
  std::vector<std::string> Offered(const std::string& words) {
    tree_.Write("ask.bash",
                "cd " + tree_.root() + "\n. ./ringlet.bash\nset -u\nCOMP_WORDS=(ringlet " + words +
                    ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                    "complete -p ringlet | grep -q -- '-F _ringlet' || exit 3\n_ringlet\n"
                    "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return LinesOf("bash --norc " + tree_.At("ask.bash"));
  }

  os::TempTree tree_;
};

TEST_F(BashCompletionTest, OffersCommandsAndOperations) {
  EXPECT_THAT(Offered("to"), ElementsAre("topo", "status 0"));
  EXPECT_THAT(Offered("bench all_r"), ElementsAre("all_reduce", "status 0"));
  EXPECT_THAT(Offered("topo ''"), IsSupersetOf({"show", "lint", "draw", "--help"}));
  EXPECT_THAT(Offered("bench ''"), Not(Contains("busy"))) << "it is hidden";
}

TEST_F(BashCompletionTest, OffersTheOptionsOfTheCommand) {
  EXPECT_THAT(Offered("bench all_reduce --"), IsSupersetOf({"--check", "--max-bytes", "--vs"}));
  EXPECT_THAT(Offered("bench barrier --"), Not(Contains("--max-bytes")));
  EXPECT_THAT(Offered("bench alltoall --max"), ElementsAre("--max-bytes", "status 0"));
}

TEST_F(BashCompletionTest, OffersEnumeratedValues) {
  EXPECT_THAT(Offered("bench all_reduce --links s"), ElementsAre("shm", "status 0"));
  EXPECT_THAT(Offered("bench all_reduce --links = s"), ElementsAre("shm", "status 0"));
  EXPECT_THAT(Offered("bench all_reduce --vs gloo,open"), ElementsAre("gloo,openmpi", "status 0"));
  EXPECT_THAT(Offered("bench all_reduce -d bf"), ElementsAre("bfloat16", "status 0"));
  EXPECT_THAT(Offered("completion z"), ElementsAre("zsh", "status 0"));
  EXPECT_THAT(Offered("plan --policy c"), ElementsAre("compat", "status 0"));
}

TEST_F(BashCompletionTest, OffersFilesForArgumentsThatTakeFiles) {
  EXPECT_THAT(Offered("topo lint mach"), ElementsAre("machine.xml", "status 0"));
  EXPECT_THAT(Offered("topo draw -o mach"), ElementsAre("machine.xml", "status 0"));
  EXPECT_THAT(Offered("bench all_reduce -n mach"), Not(Contains("machine.xml")));
}

TEST(CompletionTest, ZshAndFishScriptsNameAllCommandsAndParse) {
  const CommandDescription tool = Tool();
  const std::pair<std::string, std::string> scripts[] = {{"zsh", ZshCompletion(tool)},
                                                         {"fish", FishCompletion(tool)}};
  os::TempTree tree;
  for (const auto& [shell, script] : scripts) {
    for (const char* word : {"all_reduce", "alltoall", "openmpi", "lint"})
      EXPECT_NE(script.find(word), std::string::npos) << shell << " " << word;
    tree.Write("script", script);
    if (!IsInstalled(shell)) continue;
    EXPECT_THAT(LinesOf(shell + " -n " + tree.At("script")), ElementsAre("status 0"));
  }
}

TEST(CompletionTest, DescriptionsCannotEndTheirQuotes) {
  CLI::App tool("tool", "ringlet");
  tool.add_subcommand("odd", "It's a \\ $(touch x) `y`");
  EXPECT_NE(FishCompletion(Describe(tool)).find("'It\\'s a \\\\ $(touch x) `y`'"),
            std::string::npos);
}

}  // namespace
}  // namespace ringlet::cli
