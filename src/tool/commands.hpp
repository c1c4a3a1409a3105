// The command-line parser of the tool, with all commands and their options.
#pragma once
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Returns the parser of all commands. Parsing sets `chosen`, which outlives the parser.
/// \param program  the arguments that follow the options of `run` or `emulate`
std::unique_ptr<CLI::App> MakeTool(std::vector<std::string> program, Action& chosen);

}  // namespace ringlet::cli
