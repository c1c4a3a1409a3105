// `ringlet topo dump`: writes a machine as NCCL's XML.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoDump(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
