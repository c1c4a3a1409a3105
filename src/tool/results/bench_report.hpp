// `ringlet bench report`: the page of figures, from files of results.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `bench`. When it is the one that was named, parsing sets `chosen`.
void AddBenchReport(CLI::App& bench, Action& chosen);

}  // namespace ringlet::cli
