// `ringlet sim`: runs production state machines on a network in virtual time.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddSim(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
