// `ringlet predict`: how long a collective would take, by the cost model.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to the tool. When it is the one that was named, parsing sets `chosen`.
void AddPredict(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
