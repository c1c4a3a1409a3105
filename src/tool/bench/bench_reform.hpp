// `ringlet bench reform`: measures how fast ranks continue after others have died.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `bench`. Parsing it sets `chosen`.
void AddBenchReform(CLI::App& bench, Action& chosen);

}  // namespace ringlet::cli
