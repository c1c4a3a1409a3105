// `ringlet topo matrix`: shows types and bandwidths of the paths between all GPUs and NICs.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "tool/text/command.hpp"
#include "tool/topo/topo_paths.hpp"

namespace ringlet::cli {

/// Adds the command to `topo`. Parsing it sets `chosen`.
void AddTopoMatrix(CLI::App& topo, Action& chosen);

/// \param with_numa  include NUMA nodes; they are included in any case if there are no GPUs
std::string MatrixText(const PathView& view, bool with_numa);
/// Returns the output of `nvidia-smi topo -m`, which omits bandwidths. \pre paths are as wired, and
/// none passes a GPU between GPUs
std::string SmiText(const PathView& view);
/// Returns {"nodes": [...], "paths": [[from, to, type, MB/s, hops], ...]} with positions of nodes.
std::string MatrixJson(const PathView& view, bool with_numa);

}  // namespace ringlet::cli
