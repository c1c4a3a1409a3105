// `ringlet status`: shows the activity of the ranks of this host's communicators.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddStatus(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
