#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/value/text.hpp"
#include "topology/graph/build_links.hpp"
#include "topology/graph/build_tree.hpp"
#include "topology/view/refuse.hpp"

namespace ringlet::topology {
namespace {

/// Limits the NUMA nodes of a host to the kernel's 1024, because AddSockets() joins all pairs.
Status CheckNumaNumbers(const HostView& view) {
  constexpr std::size_t kOfOneHostMax = 1024;
  std::map<std::uint64_t, std::size_t> counts;
  for (const NumaNode& node : view.numa_nodes)
    if (++counts[view.HostOf(node)] > kOfOneHostMax)
      return Refuse(
          fmt::format("host {} has more than {} NUMA nodes", Quoted(view.name), kOfOneHostMax));
  return Ok();
}

Status CheckViews(std::span<const HostView> views) {
  if (views.empty() || views.size() > kGraphHostsMax)
    return Refuse(fmt::format("a graph has 1 to {} hosts, not {}", kGraphHostsMax, views.size()));
  std::vector<std::pair<std::uint64_t, std::size_t>> identities;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Status status = views[i].Check();
    if (!status.ok())
      return Refuse(fmt::format("host {}: {}", Quoted(views[i].name), status.error().message));
    RINGLET_TRY(CheckNumaNumbers(views[i]));
    const std::size_t before = identities.size();
    for (const NumaNode& node : views[i].numa_nodes) {
      const std::pair identity(views[i].HostOf(node), i);
      if (identities.size() == before || identities.back() != identity)
        identities.push_back(identity);
    }
  }
  std::sort(identities.begin(), identities.end());
  identities.erase(std::unique(identities.begin(), identities.end()), identities.end());
  const auto same = std::adjacent_find(identities.begin(), identities.end(),
                                       [](auto& a, auto& b) { return a.first == b.first; });
  if (same == identities.end()) return Ok();
  return Refuse(fmt::format("hosts {} and {} have the same identity {:#018x}",
                            Quoted(views[same->second].name),
                            Quoted(views[std::next(same)->second].name), same->first));
}

/// Without GPUs: the places contain each rank from 0 to n-1 once.
Status CheckPlaces(std::span<const HostView> views, std::span<const RankPlace> places) {
  if (places.empty() || places.size() > kGraphRanksMax)
    return Refuse(fmt::format("a graph has 1 to {} ranks, not {}", kGraphRanksMax, places.size()));
  std::vector<bool> seen(places.size(), false);
  for (const RankPlace& place : places) {
    const std::uint32_t rank = Index(place.rank);
    if (place.host >= views.size())
      return Refuse(fmt::format("rank {} is on host {} of {}", rank, place.host, views.size()));
    if (rank < places.size() && seen[rank])
      return Refuse(fmt::format("rank {} is placed twice", rank));
    if (rank < places.size()) seen[rank] = true;
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing == seen.end()) return Ok();
  return Refuse(fmt::format("rank {} of {} is not placed", missing - seen.begin(), places.size()));
}

/// With GPUs: the places contain any ranks, but none that a GPU has.
Status CheckPlacesBesides(std::span<const HostView> views, std::span<const RankPlace> places,
                          const GpuRankTable& gpus, bool may_be_empty) {
  std::vector<Rank> taken;
  for (const auto& of_view : gpus)
    for (const std::optional<Rank>& rank : of_view)
      if (rank) taken.push_back(*rank);
  if (taken.empty() && places.empty() && !may_be_empty)
    return Refuse("the graph is empty, because no GPU has a rank");
  for (const RankPlace& place : places) {
    if (place.host >= views.size())
      return Refuse(
          fmt::format("rank {} is on host {} of {}", Index(place.rank), place.host, views.size()));
    taken.push_back(place.rank);
  }
  std::sort(taken.begin(), taken.end());
  const auto twice = std::adjacent_find(taken.begin(), taken.end());
  if (twice == taken.end()) return Ok();
  return Refuse(fmt::format("rank {} is placed twice", Index(*twice)));
}

Status AddPlace(Draft& draft, const HostView& view, const Tree& tree, const RankPlace& place) {
  const auto at = std::find_if(view.numa_nodes.begin(), view.numa_nodes.end(),
                               [&](const NumaNode& numa) { return numa.id == place.numa; });
  if (at == view.numa_nodes.end())
    return Refuse(fmt::format("rank {} is at NUMA node {}, which host {} lacks", Index(place.rank),
                              place.numa, Quoted(view.name)));
  const NodeIndex cpu = tree.cpus[static_cast<std::size_t>(at - view.numa_nodes.begin())];
  const NodeIndex node =
      draft.Add(NodeKind::kRank, draft.at(cpu).host, Index(place.rank), Index(place.rank));
  draft.Append(cpu, node, LinkKind::kMemory, kRankMemory);
  return Ok();
}

/// Joins hosts with GPUs in one NVLink domain into one system.
void JoinFabrics(Draft& draft, const HostView& view, const Tree& tree,
                 std::span<const std::optional<Rank>> ranks,
                 std::map<NvlinkFabric, std::uint32_t>& first_of) {
  for (std::size_t i = 0; i < view.gpus.size(); ++i) {
    if (!ranks[i] || !view.gpus[i].fabric) continue;
    const auto numa = view.NumaIndexOf({PartKind::kGpu, static_cast<std::uint32_t>(i)});
    if (!numa) continue;
    const std::uint32_t host = tree.hosts[*numa];
    const auto [it, fresh] = first_of.emplace(*view.gpus[i].fabric, host);
    if (!fresh) draft.SameSystem(it->second, host);
  }
}

}  // namespace

Result<Graph> Build(std::span<const HostView> hosts, std::span<const RankPlace> ranks,
                    const BuildOptions& options) {
  RINGLET_TRY(CheckViews(hosts));
  RINGLET_TRY_ASSIGN(const GpuRankTable gpus, AssignRanks(hosts, options.gpus));
  RINGLET_TRY(options.gpus == GpuRanks::kNone
                  ? CheckPlaces(hosts, ranks)
                  : CheckPlacesBesides(hosts, ranks, gpus, options.gpus == GpuRanks::kAll));
  Draft draft;
  std::vector<Tree> trees;
  std::map<NvlinkFabric, std::uint32_t> fabrics;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    RINGLET_TRY_ASSIGN(Tree tree, AddTree(draft, hosts[i], options.rules, gpus[i]));
    if (options.join_fabrics) JoinFabrics(draft, hosts[i], tree, gpus[i], fabrics);
    trees.push_back(std::move(tree));
  }
  NvSwitches switches(options.join_fabrics);
  for (std::uint32_t i = 0; i < hosts.size(); ++i)
    AddGpuLinks(draft, hosts[i], i, trees[i], switches, options.rules);
  for (std::size_t i = 0; i < hosts.size(); ++i) AddC2cLinks(draft, hosts[i], trees[i]);
  for (std::size_t i = 0; i < hosts.size(); ++i) AddPciLinks(draft, hosts[i], trees[i]);
  FlattenBroadcom(draft);
  for (std::size_t i = 0; i < hosts.size(); ++i)
    AddSockets(draft, hosts[i], trees[i], options.rules);
  draft.PutUpstreamLast();
  for (std::size_t i = 0; i < hosts.size(); ++i)
    AddPlainNets(draft, hosts[i], trees[i], options.unknown_net);
  std::vector<RankPlace> ordered(ranks.begin(), ranks.end());
  std::sort(ordered.begin(), ordered.end(),
            [](const RankPlace& a, const RankPlace& b) { return a.rank < b.rank; });
  for (const RankPlace& place : ordered)
    RINGLET_TRY(AddPlace(draft, hosts[place.host], trees[place.host], place));
  Graph graph = std::move(draft).Finish();
  RINGLET_TRY(graph.Check());
  return graph;
}

}  // namespace ringlet::topology
