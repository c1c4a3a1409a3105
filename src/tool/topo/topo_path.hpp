// `ringlet topo path`: the way from one thing to another, hop by hop.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "tool/text/command.hpp"
#include "tool/topo/topo_paths.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. When it is the one that was named, parsing sets `chosen`.
void AddTopoPath(CLI::App& topo, Action& chosen);

/// {"from", "to", "type", "meaning"}, and of ends that are joined "mb_per_s" and "links".
std::string PathJson(const topology::Paths& paths, topology::NodeIndex from,
                     topology::NodeIndex to);
/// A line for the path, and one for each of its links.
std::string PathText(const topology::Paths& paths, topology::NodeIndex from,
                     topology::NodeIndex to);

}  // namespace ringlet::cli
