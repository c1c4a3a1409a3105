// `ringlet topo path`: shows the path between two nodes, hop by hop.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "tool/text/command.hpp"
#include "tool/topo/topo_paths.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoPath(CLI::App& topo, Action& chosen);

/// Returns {"from", "to", "type", "meaning"}, and for connected ends "mb_per_s" and "links".
std::string PathJson(const topology::Paths& paths, topology::NodeIndex from,
                     topology::NodeIndex to);
/// Returns a line for the path and one for each link.
std::string PathText(const topology::Paths& paths, topology::NodeIndex from,
                     topology::NodeIndex to);

}  // namespace ringlet::cli
