#include "tool/help/reference.hpp"

#include <fmt/format.h>

#include "tool/help/exit_status.hpp"
#include "tool/text/fill.hpp"

namespace ringlet::cli {
namespace {

std::string MarkdownCell(std::string_view text) {
  std::string cell;
  for (const char letter : text) {
    if (letter == '|' || letter == '<' || letter == '*') cell += '\\';
    cell += letter == '\n' ? ' ' : letter;
  }
  return cell;
}

std::string MarkdownRow(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string MarkdownCode(const std::vector<std::string>& lines) {
  std::string text = "\n```\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + "```\n";
}

std::string OptionRow(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
  if (names.empty()) names = fmt::format("`{}`", option.argument);
  const std::string fallback =
      option.fallback.empty() ? "" : fmt::format("`{}`", MarkdownCell(option.fallback));
  return MarkdownRow({names, MarkdownCell(ValueText(option)), fallback, MarkdownCell(option.help)});
}

std::string OptionTable(const std::vector<const OptionDescription*>& options) {
  if (options.empty()) return "";
  std::string text = "\n| option | value | default | purpose |\n|---|---|---|---|\n";
  for (const OptionDescription* option : options) text += OptionRow(*option);
  return text;
}

std::string CommandMarkdown(const CommandDescription& command, const OwnOptions& options) {
  const bool nested = command.path.rfind(' ') != 0;
  std::string about = command.help + ".";
  for (const std::string& alias : command.aliases) about += fmt::format(" Alias: `{}`.", alias);
  std::string text = fmt::format("\n{} {}\n\n{}", nested ? "###" : "##", FullName(command),
                                 Filled(about, kPageColumns)) +
                     MarkdownCode({SynopsisOf(command)});
  if (const std::string shared = SharedText(options); !shared.empty())
    text += "\n" + Filled(shared, kPageColumns);
  text += OptionTable(options.own);
  if (!command.remarks.empty()) text += "\n" + Filled(command.remarks, kPageColumns);
  if (!command.examples.empty()) text += MarkdownCode(command.examples);
  for (std::size_t i = 0; i < command.commands.size(); ++i)
    text += CommandMarkdown(command.commands[i], OwnOptionsOf(command, i));
  return text;
}

}  // namespace

std::string CliMarkdown(const CommandDescription& tool) {
  std::string text =
      "# Command line\n\n<!-- Made by: ringlet help --markdown. Run tool_test with "
      "RINGLET_UPDATE_GOLDENS=1 to renew. -->\n\n" +
      Filled(fmt::format("{}: one command, `ringlet`. `ringlet COMMAND --help` shows the same "
                         "text, and `ringlet completion` prints completions for shells. An "
                         "installation includes manual pages (`man ringlet-bench`).",
                         tool.help),
             kPageColumns) +
      MarkdownCode(tool.examples) + "\n## Values\n\n| type | meaning | example |\n|---|---|---|\n";
  for (const ValueType& type : ValueTypes())
    text += MarkdownRow(
        {std::string(type.name), MarkdownCell(type.meaning), fmt::format("`{}`", type.example)});
  text += "\n## JSON\n\n" +
          Filled(
              "`--json` prints only JSON on standard output: one document, or one per line where "
              "the option states it. Keys are in snake_case and end with their unit (`time_us`, "
              "`total_gb_s`, `mb_per_s`); `algbw` and `busbw` are GB/s, as in nccl-tests; sizes "
              "are bytes. An unknown value is null or missing.",
              kPageColumns);
  text += "\n## Exit codes\n\n| status | meaning |\n|---|---|\n";
  for (const auto& [status, meaning] : ExitStatusMeanings())
    text += MarkdownRow({status, MarkdownCell(meaning)});
  for (std::size_t i = 0; i < tool.commands.size(); ++i)
    text += CommandMarkdown(tool.commands[i], AllOptionsOf(tool.commands[i]));
  return text;
}

}  // namespace ringlet::cli
