// `ringlet topo draw`: a picture of a machine.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. When it is the one that was named, parsing sets `chosen`.
void AddTopoDraw(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
