// `ringlet topo complete`: adds the parts that a skeleton file omits.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoComplete(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
