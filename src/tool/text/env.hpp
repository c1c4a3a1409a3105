// `ringlet env`: shows every setting with its value and origin.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddEnv(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
