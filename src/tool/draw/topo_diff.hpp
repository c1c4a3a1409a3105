// `ringlet topo diff`: describes the differences between two machines in words.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoDiff(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
