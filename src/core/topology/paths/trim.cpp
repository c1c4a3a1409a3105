#include "topology/paths/trim.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/graph/draft.hpp"

namespace ringlet::topology {
namespace {

/// The last PCI link, or all NVLinks together, whichever is wider.
Bandwidth TotalOf(const Graph& graph, NodeIndex device) {
  std::uint64_t nvlinks = 0;
  Bandwidth pci;
  for (const Link& link : graph.at(device).links) {
    if (link.kind == LinkKind::kNvLink) nvlinks += link.bandwidth.mb_per_s;
    if (link.kind == LinkKind::kPci) pci = link.bandwidth;
  }
  return std::max(pci, Times({1}, nvlinks));
}

}  // namespace

std::vector<std::uint32_t> DomainsOf(const Paths& paths) {
  const std::vector<NodeIndex>& gpus = paths.Of(NodeKind::kGpu);
  std::vector<std::uint32_t> domains;
  for (std::uint32_t i = 0; i < gpus.size(); ++i) {
    std::uint32_t domain = i;
    for (std::uint32_t before = 0; before < i; ++before)
      if (paths.From(gpus[i], gpus[before]).type < PathType::kNet)
        domain = std::min(domain, domains[before]);
    domains.push_back(domain);
  }
  return domains;
}

Result<Graph> TrimToDomain(const Paths& paths, Rank rank) {
  const std::vector<NodeIndex>& gpus = paths.Of(NodeKind::kGpu);
  const auto own = std::find_if(gpus.begin(), gpus.end(), [&](NodeIndex gpu) {
    return Rank{paths.graph().at(gpu).number} == rank;
  });
  if (own == gpus.end())
    return Error{Code::kInvalidArgument,
                 fmt::format("no GPU of this system has rank {}", Index(rank))};
  const std::vector<std::uint32_t> domains = DomainsOf(paths);
  const std::uint32_t kept = domains[static_cast<std::size_t>(own - gpus.begin())];
  Draft draft(paths.graph());
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (domains[i] != kept) draft.Remove(gpus[i]);
  Graph graph = std::move(draft).Finish();
  RINGLET_TRY(graph.Check());
  return graph;
}

SystemLimits LimitsOf(const Paths& paths, bool beyond) {
  if (!beyond && paths.Of(NodeKind::kGpu).size() == 1) return {kLocalLink, kLocalLink};
  SystemLimits limits;
  for (const NodeIndex device : paths.Of(NodeKind::kDev)) {
    for (const NodeIndex to : paths.Of(beyond ? NodeKind::kNet : NodeKind::kDev)) {
      const Path path = paths.From(device, to);
      if (path.hops > 0) limits.widest = std::max(limits.widest, path.bandwidth);
    }
    limits.total = std::max(limits.total, TotalOf(paths.graph(), device));
  }
  return limits;
}

}  // namespace ringlet::topology
