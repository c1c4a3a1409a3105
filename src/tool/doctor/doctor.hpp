// `ringlet doctor`: examines hosts before a job.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddDoctor(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
