#include "tool/help/reference.hpp"

#include <gmock/gmock.h>

#include "base/value/text.hpp"
#include "tool/commands.hpp"
#include "tool/text/golden_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(ReferenceTest, ThePageEqualsTheOutputOfTheTool) {
  const ToolRun ran = RunCommand({"help", "--markdown"});
  EXPECT_EQ(ran.status, kExitDone);
  ExpectPage("docs/reference/cli.md", ran.output);
}

TEST(ReferenceTest, ListsEachCommandAndOption) {
  CLI::App tool("A tool", "ringlet");
  CLI::App* one = tool.add_subcommand("one", "Do one thing");
  std::uint32_t times = 3;
  one->add_option("-x,--times", times, "How often")->check(CLI::Range(1, 9))->default_str("3");
  const std::string about = "A or b|c";
  one->add_flag("--either", about);
  one->add_subcommand("inner", "Do it within")->alias("within");
  tool.add_subcommand("secret", "Not shown")->group("");
  const std::string page = CliMarkdown(Describe(tool));
  EXPECT_THAT(page, HasSubstr("## ringlet one\n\nDo one thing.\n"));
  EXPECT_THAT(page, HasSubstr("| `-x`, `--times` | UINT, 1 to 9 | `3` | How often |\n"));
  EXPECT_THAT(page, HasSubstr("| `--either` |  |  | A or b\\|c |\n"));
  EXPECT_THAT(page, HasSubstr("### ringlet one inner\n"));
  EXPECT_THAT(page, HasSubstr("Alias: `within`."));
  EXPECT_THAT(page, testing::Not(HasSubstr("secret")));
}

TEST(ReferenceTest, LinesOutsideTablesAndCodeFitThePage) {
  Action chosen;
  const std::string page = CliMarkdown(Describe(*MakeTool({}, chosen)));
  bool code = false;
  for (const std::string_view line : Split(page, '\n')) {
    if (line == "```") code = !code;
    if (!code && !line.starts_with("|") && !line.starts_with("<!--")) {
      EXPECT_LE(line.size(), 100u) << line;
    }
  }
}

}  // namespace
}  // namespace ringlet::cli
