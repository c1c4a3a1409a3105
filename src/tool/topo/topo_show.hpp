// `ringlet topo show`: shows a machine as a tree, with bandwidths.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoShow(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
