// `ringlet topo diff`: says in words what differs between two machines.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. When it is the one that was named, parsing sets `chosen`.
void AddTopoDiff(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
