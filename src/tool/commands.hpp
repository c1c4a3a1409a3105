// The parser of the tool: all commands with their options.
#pragma once
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// The parser of all commands. Parsing sets `chosen`, which outlives the parser.
/// \param program  what follows the options of `run` or `emulate`
std::unique_ptr<CLI::App> MakeTool(std::vector<std::string> program, Action& chosen);

}  // namespace ringlet::cli
