// `ringlet predict`: predicts the time of a collective with the cost model.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddPredict(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
