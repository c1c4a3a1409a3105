// `ringlet topo draw`: draws a machine.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoDraw(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
