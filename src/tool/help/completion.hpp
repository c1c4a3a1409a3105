// `ringlet completion SHELL`: a script that lets a shell complete commands, options and values. It
// is made from the parser, so that it knows what the tool knows.
#pragma once
#include <CLI/CLI.hpp>

#include <string>

#include "tool/help/description.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

std::string BashCompletion(const CommandDescription& tool);
std::string ZshCompletion(const CommandDescription& tool);
std::string FishCompletion(const CommandDescription& tool);

/// Adds the command to `tool`. When it is the one that was named, parsing sets `chosen`.
void AddCompletion(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
