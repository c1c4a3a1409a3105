// The graph and all paths of one host, with all its GPUs as ranks.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

struct HostPathRules {
  Rules rules = Rules::kRinglet;
  bool denies_peer_access = false;  ///< the driver does not allow access between GPUs
  PathOptions paths = {};           ///< `peer_access` is set from the above and from known drivers
};

struct HostPaths {
  HostView view;                 ///< with the ranks that the graph uses
  std::unique_ptr<Graph> graph;  ///< on the heap, because `paths` refers to it
  Paths paths;
  PathOptions options;             ///< options with which they were found
  std::vector<std::string> notes;  ///< a sentence for each unexpected rule that was applied
};

/// \param view  after PortRules
/// Errors  kInvalidArgument, kUnsupported  as Build and FindPaths
Result<HostPaths> FindHostPaths(HostView view, HostPathRules rules);

}  // namespace ringlet::topology
