// `ringlet bench`: measures collectives and the forming of communicators between ranks on this
// machine, and checks the results of collectives.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddBench(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
