#include "tool/help/help.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/value/text.hpp"
#include "os/fs/write_file.hpp"
#include "tool/help/exit_status.hpp"
#include "tool/help/man_page.hpp"
#include "tool/help/reference.hpp"
#include "tool/text/suggest.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kExitCodesTopic = "exit-codes";

std::string ExitCodesText() {
  std::string text = "Exit codes of ringlet\n\n";
  for (const auto& [status, meaning] : ExitStatusMeanings())
    text += fmt::format("  {:<6} {}\n", status, meaning);
  return text;
}

const CLI::App* CommandNamed(const CLI::App& command, const std::string& name) {
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    if (one->check_name(name)) return one;
  return nullptr;
}

Error NoSuchCommand(const CLI::App& command, const std::string& above, const std::string& name) {
  std::vector<std::string> known = CommandNames(command);
  if (above == "ringlet") known.emplace_back(kExitCodesTopic);
  return {Code::kInvalidArgument,
          fmt::format("unknown command {}{}", Quoted(name), DidYouMean(name, known))};
}

struct HelpRequest {
  std::vector<std::string> words;
  bool markdown = false;
  std::string man;  ///< a folder
};

Status WriteManPages(const CLI::App& tool, const std::string& folder) {
  for (const ManPage& page : ManPages(Describe(tool)))
    RINGLET_TRY(os::WriteFile(folder + "/" + page.file, page.text));
  return Ok();
}

int ShowHelp(const CLI::App& tool, const HelpRequest& request) {
  if (!request.man.empty()) return ExitStatusOf("help", WriteManPages(tool, request.man));
  if (request.markdown) {
    fmt::print("{}", CliMarkdown(Describe(tool)));
    return kExitDone;
  }
  const auto text = HelpText(tool, request.words);
  if (!text.ok()) return Fail("help", text.error());
  fmt::print("{}", *text);
  return kExitDone;
}

}  // namespace

Result<std::string> HelpText(const CLI::App& tool, const std::vector<std::string>& words) {
  if (words.size() == 1 && words.front() == kExitCodesTopic) return ExitCodesText();
  const CLI::App* command = &tool;
  std::string path = tool.get_name();
  for (const std::string& word : words) {
    const CLI::App* const next = CommandNamed(*command, word);
    if (next == nullptr) return NoSuchCommand(*command, path, word);
    path += " " + next->get_name();
    command = next;
  }
  // Without a path, CLI11 would show the help of the entered command, which is `help`.
  return command->get_formatter()->make_help(command, path, CLI::AppFormatMode::Normal);
}

void AddHelp(CLI::App& tool, Action& chosen) {
  CLI::App* help = tool.add_subcommand("help", "Show the help of a command");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<HelpRequest>();
  CLI::Option* words = help->add_option("COMMAND", request->words,
                                        "A command, such as bench all_reduce, or: exit-codes");
  CLI::Option* markdown = help->add_flag("--markdown", request->markdown,
                                         "Show the reference page, docs/reference/cli.md");
  help->add_option("--man", request->man, "Write the manual pages, section 1, into this folder")
      ->type_name(kFolderType)
      ->excludes(words)
      ->excludes(markdown);
  markdown->excludes(words);
  help->callback([request, &tool, &chosen] {
    chosen = [request, &tool] { return ShowHelp(tool, *request); };
  });
}

}  // namespace ringlet::cli
