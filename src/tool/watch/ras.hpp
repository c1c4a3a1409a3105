// `ringlet ras`: prints the report of a RAS server of Ringlet or NCCL.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddRas(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
