// `ringlet topo matrix`: how far and how wide it is between all GPUs and NICs.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "tool/text/command.hpp"
#include "tool/topo/topo_paths.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. When it is the one that was named, parsing sets `chosen`.
void AddTopoMatrix(CLI::App& topo, Action& chosen);

/// \param with_numa  NUMA nodes as well; without GPUs they come anyway
std::string MatrixText(const PathView& view, bool with_numa);
/// In the words of `nvidia-smi topo -m`, which knows no bandwidths. \pre the paths are as wired,
/// without GPUs between GPUs
std::string SmiText(const PathView& view);
/// {"nodes": [...], "paths": [[from, to, type, MB/s, hops], ...]}; from and to are positions.
std::string MatrixJson(const PathView& view, bool with_numa);

}  // namespace ringlet::cli
