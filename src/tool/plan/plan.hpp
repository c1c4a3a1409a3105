// `ringlet plan`: the channels that ranks on a machine, or on many of it, would use.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to the tool. When it is the one that was named, parsing sets `chosen`.
void AddPlan(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
