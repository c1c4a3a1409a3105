#include "tool/help/formatter.hpp"

#include <gmock/gmock.h>

#include "base/value/text.hpp"
#include "tool/commands.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct FormatterTest : testing::Test {
  std::string Help(std::size_t columns) {
    tool.formatter(std::make_shared<HelpFormatter>(columns));
    return tool.help();
  }
  CLI::App tool{"A tool", "tool"};
  unsigned number = 4;
  bool flag = false;
  std::string word;
};

TEST_F(FormatterTest, AnOptionShowsValueRangeAndDefault) {
  tool.add_option("-n,--ranks", number, "Number of ranks")
      ->check(CLI::Range(1u, 64u))
      ->capture_default_str();
  EXPECT_THAT(Help(100), HasSubstr("\n  -n,--ranks UINT             Number of ranks "
                                   "(1 to 64; default: 4)\n"));
}

TEST_F(FormatterTest, FewValuesStandBesideTheNameAndManyInTheText) {
  tool.add_option("--few", word, "Few")->check(CLI::IsMember({"ring", "tree"}));
  tool.add_option("--many", word, "Many")
      ->check(CLI::IsMember({"int8", "int32", "int64", "float", "double"}));
  EXPECT_THAT(Help(100),
              AllOf(HasSubstr("  --few {ring,tree}           Few\n"),
                    HasSubstr("  --many WORD                 Many (one of int8, int32, int64, ")));
}

TEST_F(FormatterTest, SortsExclusionsAndNeeds) {
  CLI::Option* a = tool.add_flag("--a", flag, "A");
  CLI::Option* b = tool.add_flag("--b", flag, "B");
  tool.add_flag("--c", flag, "C")->excludes(b)->excludes(a);
  tool.add_flag("--d", flag, "D")->needs(b)->needs(a);
  EXPECT_THAT(Help(100), AllOf(HasSubstr("C (not with --a, --b)"), HasSubstr("D (with --a, --b)")));
}

TEST_F(FormatterTest, MarksARequiredArgument) {
  tool.add_option("FILE", word, "A file")->type_name("FILE")->required();
  EXPECT_THAT(Help(100), HasSubstr("\n  FILE                        A file (required)\n"));
}

TEST_F(FormatterTest, ALongNameHasItsOwnLine) {
  tool.add_flag("--a-name-that-is-too-long-for-it", flag, "Words");
  EXPECT_THAT(Help(100), HasSubstr("\n  --a-name-that-is-too-long-for-it\n" + std::string(30, ' ') +
                                   "Words\n"));
}

/// Expects that lines fit the columns, except those of examples, which are not wrapped.
void ExpectFits(const CLI::App& command, std::size_t columns) {
  const std::string help = command.help();
  for (const std::string_view line : Split(help.substr(0, help.find("\nExamples")), '\n'))
    if (line.starts_with(std::string(30, ' '))) {
      EXPECT_LE(line.size(), columns) << line;
    }
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    ExpectFits(*below, columns);
}

TEST_F(FormatterTest, TextsFitTheTerminal) {
  Action chosen;
  const auto whole = MakeTool({}, chosen);
  ExpectFits(*whole, HelpColumns());
}

TEST_F(FormatterTest, ANarrowTerminalKeepsTwentyColumnsOfText) {
  tool.add_flag("--flag", flag, "One two three four five six seven eight nine ten");
  const std::string help = Help(10);
  EXPECT_THAT(help, AllOf(HasSubstr("One two three four\n"), Not(HasSubstr("four five"))));
}

}  // namespace
}  // namespace ringlet::cli
