// `ringlet help`: prints the help of a command or topic, or writes the reference and manual pages.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Returns the output of `ringlet help WORDS...`: the help of a command, or the topic exit-codes.
/// Errors  kInvalidArgument  the command does not exist; suggests a similar one
Result<std::string> HelpText(const CLI::App& tool, const std::vector<std::string>& words);

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddHelp(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
