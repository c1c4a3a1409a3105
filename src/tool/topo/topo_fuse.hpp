// `ringlet topo fuse`: merges several files into one, as NCCL fuses the views of its ranks.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoFuse(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
