#include "topo/paths/host_paths.hpp"

#include <algorithm>
#include <set>

#include "topology/paths/known_drivers.hpp"

namespace ringlet::topology {
namespace {

/// Clears the file's ranks if one is repeated, as NCCL overwrites them, and returns true.
bool DropRepeatedRanks(HostView& view) {
  std::set<std::uint32_t> ranks;
  const bool repeat = std::ranges::any_of(
      view.gpus, [&](const Gpu& gpu) { return gpu.rank && !ranks.insert(*gpu.rank).second; });
  if (repeat)
    for (Gpu& gpu : view.gpus) gpu.rank.reset();
  return repeat;
}

}  // namespace

Result<HostPaths> FindHostPaths(HostView view, HostPathRules rules) {
  HostPaths host{.view = std::move(view),
                 .graph = nullptr,
                 .paths = {},
                 .options = std::move(rules.paths),
                 .notes = {}};
  if (rules.rules == Rules::kNccl && DropRepeatedRanks(host.view))
    host.notes.emplace_back("duplicate rank: the GPUs are renumbered in their order, as NCCL does");
  RINGLET_TRY_ASSIGN(Graph graph,
                     Build({&host.view, 1}, {},
                           {.rules = rules.rules, .gpus = GpuRanks::kAll, .unknown_net = false}));
  host.graph = std::make_unique<Graph>(std::move(graph));
  host.options.peer_access = rules.denies_peer_access
                                 ? [](Rank, Rank) { return false; }
                                 : KnownPeerAccess({&host.view, 1}, *host.graph);
  if (host.options.peer_access && !rules.denies_peer_access &&
      host.options.ignore_disabled_p2p != 2)
    host.notes.emplace_back(
        "the driver allows GeForce cards to access each other over NVLink only; to ignore that: "
        "NCCL_IGNORE_DISABLED_P2P=2");
  RINGLET_TRY_ASSIGN(host.paths, FindPaths(*host.graph, 0, host.options));
  return host;
}

}  // namespace ringlet::topology
