// `ringlet explain`: describes in words how a machine becomes channels.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddExplain(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
