// The common parts of the commands of `ringlet topo` that look at paths.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tool/input/topo_source.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::cli {

struct PathRequest {
  TopoSource source;
  bool as_wired = false;  ///< whatever transports may use
  bool as_nccl = false;   ///< NCCL's rules, faults included
  bool apart = false;     ///< the driver keeps GPUs apart
  ViewEdit edit = {};     ///< of the machine, as of LoadPlanned
};

/// The source, --as-wired, --as-nccl and --no-peer-access.
/// \param request  outlives the parsing
void AddPathRequest(CLI::App& command, PathRequest& request);

/// A machine with all paths in it.
struct PathView {
  std::string title;
  std::unique_ptr<topology::Graph> graph;  ///< where `paths` expects it
  topology::Paths paths;
  topology::PathOptions options;     ///< by which they were found
  std::vector<std::string> missing;  ///< as of LoadedTopology
  topology::HostView machine;        ///< that the graph was built from
};

/// NCCL's variables of the environment that decide over ports and paths are heeded.
/// Errors  kInvalidArgument, kSystem  as LoadPlanned; the machine cannot be; a variable makes no
///                                    sense
Result<PathView> FindPathView(const PathRequest& request, const EnvMap& environment);

/// "GPU0" by rank, "NUMA0", a port by its name, "NVS0"; with the host before it ("node1/") where
/// there are several.
std::string LabelOf(const topology::Graph& graph, topology::NodeIndex node);

/// The node that a word names: its label, NCCL's name ("GPU/0-11000"), a bus address.
/// Errors  kInvalidArgument  nothing is called so, or several things are; lists what there is
Result<topology::NodeIndex> NodeCalled(const topology::Graph& graph, std::string_view name);

/// "gfx942" of AMD's GPUs, "sm 90" of others; "" where nothing is known. \param gcn  AMD's name
std::string ArchitectureText(std::string_view gcn, std::uint32_t compute_capability);

/// "48", "370.8": GB/s.
std::string GigabytesText(topology::Bandwidth bandwidth);

}  // namespace ringlet::cli
