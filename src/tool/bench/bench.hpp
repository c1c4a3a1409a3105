// `ringlet bench`: how fast collectives and the forming of communicators are between ranks on this
// machine, and whether they are right.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. When it is the one that was named, parsing sets `chosen`.
void AddBench(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
