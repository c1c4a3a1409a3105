// `ringlet topo`: shows machines and reports mistakes in topology files.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command and its subcommands to `tool`. Parsing one of them sets `chosen`.
void AddTopo(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
