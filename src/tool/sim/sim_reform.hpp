// `ringlet sim reform`: simulates how the survivors of deaths continue.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `ringlet sim`. Parsing it sets `chosen`.
void AddSimReform(CLI::App& sim, Action& chosen);

}  // namespace ringlet::cli
