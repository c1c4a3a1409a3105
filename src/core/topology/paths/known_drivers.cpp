#include "topology/paths/known_drivers.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/view/known_devices.hpp"

namespace ringlet::topology {
namespace {

using OnHost = std::pair<std::uint64_t, BusId>;

/// The addresses of GeForce cards.
std::set<OnHost> CardsKeptApart(std::span<const HostView> hosts) {
  std::set<OnHost> cards;
  for (const HostView& view : hosts) {
    for (const Gpu& gpu : view.gpus) {
      const GpuModel* const model = FindGpuModel(view.pci[gpu.pci].ids);
      if (model == nullptr || model->product.find("GeForce") == std::string_view::npos) continue;
      const auto numa = view.NumaIndexOf({PartKind::kPci, gpu.pci});
      cards.emplace(numa ? view.HostOf(view.numa_nodes[*numa]) : view.identity,
                    view.pci[gpu.pci].bus);
    }
  }
  return cards;
}

}  // namespace

std::function<bool(Rank, Rank)> KnownPeerAccess(std::span<const HostView> hosts,
                                                const Graph& graph) {
  const std::set<OnHost> cards = CardsKeptApart(hosts);
  std::vector<std::pair<NodeIndex, Rank>> kept_apart;  // devices with their ranks
  for (std::uint32_t i = 0; i < graph.nodes().size() && !cards.empty(); ++i) {
    const NodeIndex node{i};
    if (graph.at(node).kind != NodeKind::kGpu) continue;
    const NodeIndex device = graph.gpu(node).device;
    if (cards.contains({graph.hosts()[graph.at(node).host].identity, graph.device(device).bus}))
      kept_apart.emplace_back(device, Rank{graph.at(node).number});
  }
  if (kept_apart.empty()) return {};
  // All copies of the function share this constant set.
  const auto refused = std::make_shared<std::set<std::pair<Rank, Rank>>>();
  for (const auto& [device, rank] : kept_apart) {
    const std::vector<Link>& links = graph.at(device).links;
    for (const auto& [other, its] : kept_apart) {
      const bool bridged = std::any_of(links.begin(), links.end(), [&](const Link& link) {
        return link.kind == LinkKind::kNvLink && link.to == other;
      });
      if (!bridged) refused->emplace(rank, its);
    }
  }
  return [refused](Rank from, Rank to) { return !refused->contains({from, to}); };
}

}  // namespace ringlet::topology
