// `ringlet plan`: shows the channels of ranks on one machine or on several.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddPlan(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
