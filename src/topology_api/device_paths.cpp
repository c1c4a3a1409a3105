#include <utility>

#include "ringlet/topology.hpp"
#include "topo/paths/labels.hpp"
#include "topology_api/contents.hpp"

namespace ringlet::topology {

struct DevicePaths::Contents {
  HostPaths host;
};

Result<DevicePaths> DevicePaths::Find(const Topology& topology, const PathRules& rules) {
  RINGLET_TRY_ASSIGN(HostPaths host, PlannedPathsOf(topology, rules));
  return DevicePaths(std::make_shared<const Contents>(Contents{std::move(host)}));
}

Result<DevicePath> DevicePaths::Between(std::string_view from, std::string_view to) const {
  const HostPaths& host = contents_->host;
  RINGLET_TRY_ASSIGN(const NodeIndex start, NodeCalled(*host.graph, from));
  RINGLET_TRY_ASSIGN(const NodeIndex end, NodeCalled(*host.graph, to));
  const Path path = host.paths.From(start, end);
  return DevicePath{std::string(NameOf(path.type)), GigabytesOf(path.bandwidth), path.hops};
}

Result<std::vector<PathLink>> DevicePaths::Links(std::string_view from, std::string_view to) const {
  const HostPaths& host = contents_->host;
  RINGLET_TRY_ASSIGN(const NodeIndex start, NodeCalled(*host.graph, from));
  RINGLET_TRY_ASSIGN(const NodeIndex end, NodeCalled(*host.graph, to));
  std::vector<PathLink> links;
  for (const Hop& hop : host.paths.Route(start, end))
    links.push_back(
        {LabelOf(*host.graph, hop.to), std::string(NameOf(hop.kind)), GigabytesOf(hop.bandwidth)});
  return links;
}

}  // namespace ringlet::topology
