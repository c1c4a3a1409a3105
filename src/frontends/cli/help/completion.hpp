// `ringlet completion SHELL`: a script that lets a shell complete commands, options and values. It
// is made from the parser, so that it knows what the tool knows.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "frontends/cli/command.hpp"

namespace ringlet::cli {

struct CompletedOption {
  std::vector<std::string> names;  ///< with dashes; none: an argument without a name
  std::string help;
  bool takes_value = false;
  bool takes_file = false;
  std::vector<std::string> values;  ///< where they are enumerated
};

struct CompletedCommand {
  std::string path;  ///< " bench all_reduce": each word after a space; "" is the tool
  std::string help;
  std::vector<std::string> aliases;  ///< of its last word
  std::vector<CompletedOption> options;
  std::vector<CompletedCommand> commands;
};

/// What the help of `tool` and of each command shows.
CompletedCommand CompletedFrom(const CLI::App& tool);

std::string BashCompletion(const CompletedCommand& tool);
std::string ZshCompletion(const CompletedCommand& tool);
std::string FishCompletion(const CompletedCommand& tool);

/// Adds the command to `tool`. When it is the one that was named, parsing sets `chosen`.
void AddCompletion(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
