// `ringlet trace`: compares the last operations of ranks from their traces.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddTrace(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
