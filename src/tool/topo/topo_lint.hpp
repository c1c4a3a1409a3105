// `ringlet topo lint`: reports mistakes in topology files.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoLint(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
