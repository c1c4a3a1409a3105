#include "topology/paths.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace ringlet::topology {

std::vector<Bandwidth> WidestFrom(const Graph& graph, NodeIndex from) {
  // Dijkstra's algorithm, with "narrowest link" for length and "wider" for "shorter".
  const HostNodes& host = graph.hosts()[graph.at(from).host];
  std::vector<Bandwidth> widest(host.end - host.first);
  std::priority_queue<std::pair<Bandwidth, NodeIndex>> open;
  const auto offer = [&](NodeIndex node, Bandwidth width) {
    Bandwidth& known = widest[Index(node) - host.first];
    if (width <= known) return;
    known = width;
    if (graph.at(node).kind == NodeKind::kCpu) open.emplace(width, node);
  };
  for (const Link& link : graph.at(from).links) {
    offer(link.to, link.bandwidth);
    offer(from, link.bandwidth);
  }
  while (!open.empty()) {
    const auto [width, node] = open.top();
    open.pop();
    if (width < widest[Index(node) - host.first]) continue;  // a wider way was found since
    for (const Link& link : graph.at(node).links) offer(link.to, std::min(width, link.bandwidth));
  }
  return widest;
}

}  // namespace ringlet::topology
