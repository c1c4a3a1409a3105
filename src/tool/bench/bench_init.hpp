// `ringlet bench init`: measures how fast communicators form on this machine.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `bench`. Parsing it sets `chosen`.
void AddBenchInit(CLI::App& bench, Action& chosen);

}  // namespace ringlet::cli
