#include "tool/help/man_page.hpp"

#include <fmt/format.h>

#include "tool/help/exit_status.hpp"
#include "tool/text/fill.hpp"
#include "tool/text/version.hpp"

namespace ringlet::cli {
namespace {

/// Escapes text within a line. Troff reads a backslash as an escape and a plain dash as a hyphen.
std::string Troff(std::string_view text) {
  std::string escaped;
  for (const char letter : text) switch (letter) {
      case '\\': escaped += "\\e"; break;
      case '-': escaped += "\\-"; break;
      case '"': escaped += "\\(dq"; break;
      case '\'': escaped += "\\(aq"; break;
      case '`': escaped += "\\(ga"; break;
      case '~': escaped += "\\(ti"; break;
      case '^': escaped += "\\(ha"; break;
      case '\n': escaped += ' '; break;
      default: escaped += letter;
    }
  return escaped;
}

/// Fills and escapes text as lines. Troff reads a line that begins with a dot as a request.
std::string TroffLines(std::string_view text) {
  constexpr std::size_t kColumns = 72;
  std::string lines;
  const std::string filled = Filled(text, kColumns);
  for (std::size_t begin = 0; begin < filled.size();) {
    const std::size_t end = filled.find('\n', begin);
    const std::string line = Troff(std::string_view(filled).substr(begin, end - begin));
    lines += (line.starts_with('.') ? "\\&" : "") + line + "\n";
    begin = end + 1;
  }
  return lines;
}

std::string Bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", Troff(text));
}

std::string TroffOption(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + Bold(name);
  if (names.empty()) names = fmt::format("\\fI{}\\fR", Troff(option.argument));
  const std::string value = option.names.empty() ? "" : Troff(ValueText(option));
  std::string text = fmt::format(".TP\n{}{}{}\n{}", names, value.empty() ? "" : " ", value,
                                 TroffLines(option.help + "."));
  if (!option.fallback.empty()) text += TroffLines(fmt::format("Default: {}.", option.fallback));
  return text;
}

std::string TroffBody(const CommandDescription& command, const OwnOptions& options) {
  std::string text;
  if (const std::string shared = SharedText(options); !shared.empty())
    text += ".PP\n" + TroffLines(shared);
  for (const OptionDescription* option : options.own) text += TroffOption(*option);
  if (!command.remarks.empty()) text += ".PP\n" + TroffLines(command.remarks);
  if (command.examples.empty()) return text;
  text += ".PP\n.nf\n";
  for (const std::string& line : command.examples) text += "    " + Troff(line) + "\n";
  return text + ".fi\n";
}

std::string TroffSubcommand(const CommandDescription& command, const OwnOptions& options) {
  std::string about = command.help + ".";
  for (const std::string& alias : command.aliases) about += fmt::format(" Alias: {}.", alias);
  std::string text = fmt::format(".SS {}\n{}", Troff(SynopsisOf(command)), TroffLines(about)) +
                     TroffBody(command, options);
  for (std::size_t i = 0; i < command.commands.size(); ++i)
    text += TroffSubcommand(command.commands[i], OwnOptionsOf(command, i));
  return text;
}

std::string ManHead(const std::string& name, const CommandDescription& command) {
  return fmt::format(
      ".\\\" Made by: ringlet help --man\n.TH {} 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\n{} \\- "
      "{}\n.SH SYNOPSIS\n{}\n",
      name, VersionText(), Troff(name), Troff(command.help), Bold(SynopsisOf(command)));
}

std::string ManTail(const std::string& see_also) {
  std::string text = ".SH VALUES\n";
  for (const ValueType& type : ValueTypes())
    text += fmt::format(".TP\n{}\n{}", Bold(type.name),
                        TroffLines(fmt::format("{}: {}", type.meaning, type.example)));
  text += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : ExitStatusMeanings())
    text += fmt::format(".TP\n{}\n{}", Bold(status), TroffLines(meaning));
  return text + ".SH SEE ALSO\n" + see_also;
}

ManPage PageOf(const CommandDescription& command) {
  const std::string name = "ringlet-" + LastWord(command);
  std::string text =
      ManHead(name, command) + ".SH OPTIONS\n" + TroffBody(command, AllOptionsOf(command));
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (std::size_t i = 0; i < command.commands.size(); ++i)
    text += TroffSubcommand(command.commands[i], OwnOptionsOf(command, i));
  return {name + ".1", text + ManTail(".BR ringlet (1)\n")};
}

}  // namespace

std::vector<ManPage> ManPages(const CommandDescription& tool) {
  std::vector<ManPage> pages(1);
  std::string text = ManHead("ringlet", tool) + ".SH OPTIONS\n" +
                     TroffBody(tool, AllOptionsOf(tool)) + ".SH COMMANDS\n";
  std::string see_also;
  for (const CommandDescription& command : tool.commands) {
    pages.push_back(PageOf(command));
    const std::string name = "ringlet-" + LastWord(command);
    text += fmt::format(".TP\n.BR {} (1)\n{}", Troff(name), TroffLines(command.help + "."));
    see_also +=
        fmt::format(".BR {} (1){}\n", Troff(name), &command == &tool.commands.back() ? "" : " ,");
  }
  pages.front() = {"ringlet.1", text + ManTail(see_also)};
  return pages;
}

}  // namespace ringlet::cli
