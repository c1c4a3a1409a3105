// The values behind the classes of ringlet/topology.hpp.
#pragma once
#include <string>
#include <vector>

#include "ringlet/topology.hpp"
#include "topo/paths/host_paths.hpp"
#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

struct Topology::Contents {
  std::string name;
  HostView view;  ///< Check() has passed
  Positions positions = {};
  std::vector<Finding> findings = {};
  std::vector<LinkState> links = {};  ///< of this host only
  std::vector<std::string> missing = {};
};

/// The graph and paths of a topology after the default PortRules, as plans use them.
/// Errors  kInvalidArgument, kUnsupported  as ApplyPortRules and FindHostPaths
Result<HostPaths> PlannedPathsOf(const Topology& topology, const PathRules& rules);

/// GPUs, ports and processors, in this order.
std::vector<NodeIndex> DeviceNodesOf(const Paths& paths);

double GigabytesOf(Bandwidth bandwidth);  ///< per second

}  // namespace ringlet::topology
