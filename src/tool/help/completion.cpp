#include "tool/help/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ringlet::cli {
namespace {

/// Quotes a text for bash and zsh.
std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text)
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

/// Quotes a text for fish. Single quotes in fish interpret \' and \\.
std::string FishQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "'";
}

/// The syntax of a shell for a branch of a case over "$at WORD".
struct BranchForm {
  std::string (*quote)(std::string_view);
  std::string_view between;  ///< separates patterns
  std::string_view branch;
};
constexpr BranchForm kShellBranch{&ShellQuoted, "|", "      {}) at={} ;;\n"};
constexpr BranchForm kFishBranch{&FishQuoted, " ", "      case {}\n        set at {}\n"};

/// Returns branches that enter a command. An alias enters the command that it names.
std::string EnteringBranches(const CommandDescription& tool, const BranchForm& form) {
  std::string text;
  Walk(tool, [&](const CommandDescription& command) {
    if (command.path.empty()) return;
    const std::string above = command.path.substr(0, command.path.rfind(' ') + 1);
    std::vector<std::string> patterns = {form.quote(command.path)};
    for (const std::string& alias : command.aliases) patterns.push_back(form.quote(above + alias));
    text += fmt::format(fmt::runtime(form.branch), fmt::join(patterns, form.between),
                        form.quote(command.path));
  });
  return text;
}

/// Returns branches of a case over "$at OPTION" for options with a value.
std::string ValueBranches(const CommandDescription& tool) {
  std::string text;
  Walk(tool, [&](const CommandDescription& command) {
    for (const OptionDescription& option : command.options) {
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

/// Returns the words that may follow a command and are not values of its options.
std::vector<std::string> WordsAt(const CommandDescription& command) {
  std::vector<std::string> words;
  for (const CommandDescription& below : command.commands) words.push_back(LastWord(below));
  for (const OptionDescription& option : command.options) {
    const auto& more = option.names.empty() ? option.values : option.names;
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

bool AcceptsFiles(const CommandDescription& command) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [](const auto& option) { return option.names.empty() && option.takes_file; });
}

/// Returns branches of a case over "$at".
std::string PlaceBranches(const CommandDescription& tool) {
  std::string text;
  Walk(tool, [&](const CommandDescription& command) {
    const bool runs = AcceptsProgram(command);
    text += fmt::format("      {}) values={}{} ;;\n", ShellQuoted(command.path),
                        ShellQuoted(fmt::format("{}", fmt::join(WordsAt(command), " "))),
                        runs                    ? " more=program"
                        : AcceptsFiles(command) ? " more=file"
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

std::string FishOption(const std::string& condition, const OptionDescription& option) {
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

std::string ScriptFor(const CommandDescription& tool, std::string_view shell) {
  if (shell == "bash") return BashCompletion(tool);
  return shell == "zsh" ? ZshCompletion(tool) : FishCompletion(tool);
}

}  // namespace

std::string BashCompletion(const CommandDescription& tool) {
  return fmt::format(kBash, EnteringBranches(tool, kShellBranch), ValueBranches(tool),
                     PlaceBranches(tool));
}

std::string ZshCompletion(const CommandDescription& tool) {
  return fmt::format(kZsh, EnteringBranches(tool, kShellBranch), ValueBranches(tool),
                     PlaceBranches(tool));
}

std::string FishCompletion(const CommandDescription& tool) {
  std::string text = fmt::format(kFish, EnteringBranches(tool, kFishBranch));
  Walk(tool, [&](const CommandDescription& command) {
    const std::string condition = FishQuoted("__ringlet_at " + ShellQuoted(command.path));
    for (const CommandDescription& below : command.commands)
      text += fmt::format("complete -c ringlet -n {} -a {} -d {}\n", condition, LastWord(below),
                          FishQuoted(below.help));
    for (const OptionDescription& option : command.options)
      if (!option.names.empty() || option.takes_file || !option.values.empty())
        text += FishOption(condition, option);
    if (AcceptsProgram(command)) text += fmt::format("complete -c ringlet -n {} -F\n", condition);
  });
  return text;
}

void AddCompletion(CLI::App& tool, Action& chosen) {
  CLI::App* completion =
      tool.add_subcommand("completion", "Print a script that completes command lines");
  // The parser fills it, and the action reads it later.
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([shell, &tool, &chosen] {
    chosen = [shell, &tool] {
      fmt::print("{}", ScriptFor(Describe(tool), *shell));
      return kExitDone;
    };
  });
}

}  // namespace ringlet::cli
