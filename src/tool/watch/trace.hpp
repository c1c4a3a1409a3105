// `ringlet trace`: the last operations of ranks, as they have left them, side by side.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. When it is the one that was named, parsing sets `chosen`.
void AddTrace(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
