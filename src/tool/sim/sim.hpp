// `ringlet sim`: what the machines of production do on a network in virtual time.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. When it is the one that was named, parsing sets `chosen`.
void AddSim(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
