// `ringlet topo complete`: fills in what a skeleton file leaves out.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. When it is the one that was named, parsing sets `chosen`.
void AddTopoComplete(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
