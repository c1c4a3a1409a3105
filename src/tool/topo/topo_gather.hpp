// `ringlet topo gather`: takes a machine along in a tarball, to be looked at elsewhere.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. When it is the one that was named, parsing sets `chosen`.
void AddTopoGather(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
