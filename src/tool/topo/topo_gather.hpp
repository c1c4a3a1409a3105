// `ringlet topo gather`: writes a machine into a tarball for inspection on another machine.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoGather(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
