// The common parts of the commands of `ringlet topo` about paths.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tool/input/topo_source.hpp"
#include "topo/paths/labels.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::cli {

struct PathRequest {
  TopoSource source;
  bool as_wired = false;  ///< find the best paths, even if transports may not use them
  bool as_nccl = false;   ///< apply NCCL's rules, including its faults
  bool apart = false;     ///< the driver does not allow peer access between GPUs
  ViewEdit edit = {};     ///< changes the machine, as in LoadPlanned
};

/// Adds the source, --as-wired, --as-nccl and --no-peer-access.
/// \param request  outlives the parsing
void AddPathRequest(CLI::App& command, PathRequest& request);

/// A machine with all its paths.
struct PathView {
  std::string title;
  std::unique_ptr<topology::Graph> graph;  ///< on the heap, because `paths` refers to it
  topology::Paths paths;
  topology::PathOptions options;     ///< options with which they were found
  std::vector<std::string> missing;  ///< as in LoadedTopology
  topology::HostView machine;        ///< the source of the graph
};

/// Applies NCCL's environment variables for ports and paths.
/// Errors  kInvalidArgument, kSystem  as LoadPlanned; the machine is impossible; a variable does
///         not parse
Result<PathView> FindPathView(const PathRequest& request, const EnvMap& environment);

/// Returns "gfx942" for AMD GPUs, "sm 90" for others; "" if unknown. \param gcn  AMD's name
std::string ArchitectureText(std::string_view gcn, std::uint32_t compute_capability);

/// Formats GB/s: "48", "370.8".
std::string GigabytesText(topology::Bandwidth bandwidth);

}  // namespace ringlet::cli
