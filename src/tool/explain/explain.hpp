// `ringlet explain`: from a machine to its channels, told in words.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to the tool. When it is the one that was named, parsing sets `chosen`.
void AddExplain(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
