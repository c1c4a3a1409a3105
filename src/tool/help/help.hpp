// `ringlet help`: the help of a command, or a topic; the reference and manual pages of all.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// The output of `ringlet help WORDS...`: the help of that command, or the topic exit-codes.
/// Errors  kInvalidArgument  there is no such command; says which is near
Result<std::string> HelpText(const CLI::App& tool, const std::vector<std::string>& words);

/// Adds the command to `tool`. When it is the one that was named, parsing sets `chosen`.
void AddHelp(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
