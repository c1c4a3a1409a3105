// `ringlet topo fuse`: several files as one, as NCCL fuses what its ranks have seen.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. When it is the one that was named, parsing sets `chosen`.
void AddTopoFuse(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
