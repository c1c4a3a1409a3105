#include "frontends/cli/help/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/value/text.hpp"
#include "frontends/cli/help/exit_status.hpp"

namespace ringlet::cli {
namespace {

using Visit = std::function<void(const CompletedCommand&)>;

// CLI11 shows the members of a set between braces behind the type.
std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  std::vector<std::string> values;
  if (begin == std::string::npos || end == std::string::npos) return values;
  for (const std::string_view value :
       Split(std::string_view(type).substr(begin + 1, end - begin - 1), ','))
    values.emplace_back(value);
  return values;
}

CompletedOption OptionFrom(const CLI::Option& option) {
  CompletedOption one{.names = {}, .help = option.get_description(), .values = ValuesOf(option)};
  for (const std::string& name : option.get_snames()) one.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) one.names.push_back("--" + name);
  one.takes_value = option.get_items_expected_max() > 0;
  const std::string type = option.get_type_name();
  one.takes_file = type.starts_with("FILE") || type.starts_with("DIR");
  return one;
}

CompletedCommand CommandFrom(const CLI::App& command, const std::string& path) {
  CompletedCommand one{.path = path,
                       .help = command.get_description(),
                       .aliases = command.get_aliases(),
                       .options = {},
                       .commands = {}};
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty()) one.options.push_back(OptionFrom(*option));
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!below->get_group().empty())
      one.commands.push_back(CommandFrom(*below, path + " " + below->get_name()));
  return one;
}

void Walk(const CompletedCommand& command, const Visit& visit) {
  visit(command);
  for (const CompletedCommand& below : command.commands) Walk(below, visit);
}

std::string LastWord(const CompletedCommand& command) {
  return command.path.substr(command.path.rfind(' ') + 1);
}

/// In single quotes for bash and zsh.
std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text)
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

/// For fish, whose single quotes know \' and \\.
std::string FishQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "'";
}

/// Branches of a case over "$at WORD" that enter a command; an alias enters it as its name.
std::string EnteringBranches(const CompletedCommand& tool) {
  std::string text;
  Walk(tool, [&](const CompletedCommand& command) {
    if (command.path.empty()) return;
    const std::string above = command.path.substr(0, command.path.rfind(' ') + 1);
    std::string patterns = ShellQuoted(command.path);
    for (const std::string& alias : command.aliases) patterns += "|" + ShellQuoted(above + alias);
    text += fmt::format("      {}) at={} ;;\n", patterns, ShellQuoted(command.path));
  });
  return text;
}

/// Branches of a case over "$at OPTION" for options that take a value.
std::string ValueBranches(const CompletedCommand& tool) {
  std::string text;
  Walk(tool, [&](const CompletedCommand& command) {
    for (const CompletedOption& option : command.options) {
      if (!option.takes_value || option.names.empty()) continue;
      std::string patterns;
      for (const std::string& name : option.names)
        patterns += (patterns.empty() ? "" : "|") + ShellQuoted(command.path + " " + name);
      const std::string what =
          option.takes_file ? std::string("kind=file")
          : option.values.empty()
              ? std::string("kind=any")
              : fmt::format("kind=words values={}",
                            ShellQuoted(fmt::format("{}", fmt::join(option.values, " "))));
      text += fmt::format("    {}) {} ;;\n", patterns, what);
    }
  });
  return text;
}

/// What may stand at a place that belongs to no option.
std::vector<std::string> WordsAt(const CompletedCommand& command) {
  std::vector<std::string> words;
  for (const CompletedCommand& below : command.commands) words.push_back(LastWord(below));
  for (const CompletedOption& option : command.options) {
    const auto& more = option.names.empty() ? option.values : option.names;
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

bool TakesFiles(const CompletedCommand& command) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [](const auto& option) { return option.names.empty() && option.takes_file; });
}

/// Branches of a case over "$at".
std::string PlaceBranches(const CompletedCommand& tool) {
  std::string text;
  Walk(tool, [&](const CompletedCommand& command) {
    const bool runs = command.path == " run";  // a program follows
    text += fmt::format("      {}) values={}{} ;;\n", ShellQuoted(command.path),
                        ShellQuoted(fmt::format("{}", fmt::join(WordsAt(command), " "))),
                        runs                  ? " more=program"
                        : TakesFiles(command) ? " more=file"
                                              : "");
  });
  return text;
}

constexpr std::string_view kBash =
    R"(# Completion of ringlet for bash, made by: ringlet completion bash
_ringlet() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local at='' kind='' values='' more='' i
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$at ${{COMP_WORDS[i]}}" in
{0}    esac
  done
  case "$at $before" in
{1}  esac
  if [[ -z $kind ]]; then
    case "$at" in
{2}    esac
  fi
  COMPREPLY=()
  if [[ $kind == words ]]; then  # a list may be separated by commas
    local head=''
    [[ $word == *,* ]] && head="${{word%,*}},"
    COMPREPLY=($(compgen -P "$head" -W "$values" -- "${{word##*,}}"))
    return
  fi
  [[ -n $values ]] && COMPREPLY=($(compgen -W "$values" -- "$word"))
  [[ $more == program && $word != -* ]] && COMPREPLY+=($(compgen -c -- "$word"))
  if [[ $kind == file || ( -n $more && $word != -* ) ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}}
complete -F _ringlet ringlet
)";

constexpr std::string_view kZsh = R"(#compdef ringlet
# Completion of ringlet for zsh, made by: ringlet completion zsh
_ringlet() {{
  local at='' kind='' values='' more='' word before=${{words[CURRENT-1]}}
  for word in ${{words[2,CURRENT-1]}}; do
    case "$at $word" in
{0}    esac
  done
  case "$at $before" in
{1}  esac
  if [[ -z $kind ]]; then
    case "$at" in
{2}    esac
  fi
  if [[ $kind == words ]]; then  # a list may be separated by commas
    compset -P '*,'
    compadd -- ${{=values}}
    return
  fi
  [[ -n $values ]] && compadd -- ${{=values}}
  [[ $more == program ]] && _command_names -e
  [[ $kind == file || -n $more ]] && _files
  return 0
}}
if [[ $funcstack[1] == _ringlet ]]; then
  _ringlet "$@"
else
  compdef _ringlet ringlet
fi
)";

constexpr std::string_view kFish =
    R"(# Completion of ringlet for fish, made by: ringlet completion fish
function __ringlet_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
{}    end
  end
  test "$at" = "$argv[1]"
end
complete -c ringlet -f
)";

std::string FishBranches(const CompletedCommand& tool) {
  std::string text;
  Walk(tool, [&](const CompletedCommand& command) {
    if (command.path.empty()) return;
    const std::string above = command.path.substr(0, command.path.rfind(' ') + 1);
    std::string patterns = FishQuoted(command.path);
    for (const std::string& alias : command.aliases) patterns += " " + FishQuoted(above + alias);
    text += fmt::format("      case {}\n        set at {}\n", patterns, FishQuoted(command.path));
  });
  return text;
}

std::string FishOption(const std::string& condition, const CompletedOption& option) {
  std::string line = "complete -c ringlet -n " + condition;
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_file) {
    line += option.names.empty() ? " -F" : " -r -F";
  } else if (option.takes_value && !option.names.empty()) {
    line += " -x";
  }
  if (!option.values.empty())
    line += " -a " + FishQuoted(fmt::format("{}", fmt::join(option.values, " ")));
  return line + " -d " + FishQuoted(option.help) + "\n";
}

std::string ScriptFor(const CompletedCommand& tool, std::string_view shell) {
  if (shell == "bash") return BashCompletion(tool);
  return shell == "zsh" ? ZshCompletion(tool) : FishCompletion(tool);
}

}  // namespace

CompletedCommand CompletedFrom(const CLI::App& tool) {
  return CommandFrom(tool, "");
}

std::string BashCompletion(const CompletedCommand& tool) {
  return fmt::format(kBash, EnteringBranches(tool), ValueBranches(tool), PlaceBranches(tool));
}

std::string ZshCompletion(const CompletedCommand& tool) {
  return fmt::format(kZsh, EnteringBranches(tool), ValueBranches(tool), PlaceBranches(tool));
}

std::string FishCompletion(const CompletedCommand& tool) {
  std::string text = fmt::format(kFish, FishBranches(tool));
  Walk(tool, [&](const CompletedCommand& command) {
    const std::string condition = FishQuoted("__ringlet_at " + ShellQuoted(command.path));
    for (const CompletedCommand& below : command.commands)
      text += fmt::format("complete -c ringlet -n {} -a {} -d {}\n", condition, LastWord(below),
                          FishQuoted(below.help));
    for (const CompletedOption& option : command.options)
      if (!option.names.empty() || option.takes_file || !option.values.empty())
        text += FishOption(condition, option);
    if (command.path == " run") text += fmt::format("complete -c ringlet -n {} -F\n", condition);
  });
  return text;
}

void AddCompletion(CLI::App& tool, Action& chosen) {
  CLI::App* completion =
      tool.add_subcommand("completion", "Print a script that completes command lines");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([shell, &tool, &chosen] {
    chosen = [shell, &tool] {
      fmt::print("{}", ScriptFor(CompletedFrom(tool), *shell));
      return kExitDone;
    };
  });
}

}  // namespace ringlet::cli
