#include "tool/help/examples.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tool/commands.hpp"
#include "tool/run/run.hpp"

namespace ringlet::cli {
namespace {

/// Splits a command line as a shell without variables does, up to a redirection.
std::vector<std::string> WordsOfLine(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') {
      quoted = !quoted;
    } else if (letter == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  words.erase(std::find_if(words.begin(), words.end(),
                           [](const std::string& word) { return word == "<" || word == ">"; }),
              words.end());
  return words;
}

/// Returns the parser's error message for a command line; empty if it is accepted.
std::string Refusal(std::vector<std::string> words) {
  Action chosen;
  std::vector<std::string> program;
  if (AcceptsProgram(words.front())) {
    RunArguments split = SplitRunArguments({words.begin() + 1, words.end()});
    const bool lists = std::ranges::count(split.own, "--list-machines") > 0;
    if (split.program.empty() && !lists) return "no program";
    split.own.insert(split.own.begin(), words.front());
    words = std::move(split.own);
    program = std::move(split.program);
  }
  const auto tool = MakeTool(program, chosen);
  std::reverse(words.begin(), words.end());
  try {
    tool->parse(words);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return chosen ? "" : "no command was chosen";
}

/// Expects that each visible command has examples that the parser accepts and its help shows.
void ExpectExamples(const CLI::App& command, const std::string& path) {
  const std::vector<std::string> lines = ExamplesOf(path);
  EXPECT_FALSE(lines.empty()) << "no example of " << path;
  for (const std::string& line : lines) {
    EXPECT_NE(command.get_footer().find("  " + line + "\n"), std::string::npos) << line;
    std::vector<std::string> words = WordsOfLine(line);
    ASSERT_EQ(words.front(), "ringlet");
    words.erase(words.begin());
    EXPECT_EQ(Refusal(words), "") << line;
  }
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!one->get_group().empty())
      ExpectExamples(*one, path + (path.empty() ? "" : " ") + one->get_name());
}

TEST(ExamplesTest, TheParserAcceptsTheExamplesOfEachCommand) {
  Action chosen;
  ExpectExamples(*MakeTool({}, chosen), "");
}

TEST(ExamplesTest, TheParserRefusesInvalidExamples) {
  EXPECT_NE(Refusal({"bench", "all_reduce", "--odd"}), "");
  EXPECT_NE(Refusal({"run", "-n", "2"}), "");
}

TEST(ExamplesTest, KeepsTheOtherTextOfAHelp) {
  Action chosen;
  const std::string footer = MakeTool({}, chosen)->get_subcommand("run")->get_footer();
  EXPECT_NE(footer.find("Examples:"), std::string::npos);
  EXPECT_NE(footer.find("RINGLET_UNIQUE_ID"), std::string::npos);
}

}  // namespace
}  // namespace ringlet::cli
