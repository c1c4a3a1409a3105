// `ringlet completion SHELL`: prints a script with which a shell completes commands, options and
// values. The script is generated from the parser, so it matches the tool.
#pragma once
#include <CLI/CLI.hpp>

#include <string>

#include "tool/help/description.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

std::string BashCompletion(const CommandDescription& tool);
std::string ZshCompletion(const CommandDescription& tool);
std::string FishCompletion(const CommandDescription& tool);

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddCompletion(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
