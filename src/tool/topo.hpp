// `ringlet topo`: shows machines, and says what is wrong with what files say of them.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command with all its own commands to `tool`. When one of them is named, parsing sets
/// `chosen`.
void AddTopo(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
