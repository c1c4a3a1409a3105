#include "comm/machine/slow_rates.hpp"

#include <algorithm>
#include <utility>

namespace ringlet::comm {

using plan::GraphId;
using plan::HardwareLink;
using plan::TransferPurpose;

struct SlowRates::Loads {
  struct Load {
    std::uint32_t within = 0, between = 0;  ///< channel edges on it, by nodes
    std::uint32_t mb_per_s = 0;
    std::uint32_t share = SlowLink::kWhole;
  };
  std::map<HardwareLink, Load> slow;
};

std::uint32_t HostOf(const plan::GpuPlan& plan, const HardwareLink& link) {
  const plan::GpuNode& node = plan.nodes[link.node];
  const topology::Graph& graph = *plan.systems[node.system].graph;
  const bool from_switch = graph.at(link.from).kind == topology::NodeKind::kNvs;
  return node.hosts[graph.at(from_switch ? link.to : link.from).host];
}

std::uint32_t SlowRates::ShareOf(const HardwareLink& link) const {
  const topology::Graph& graph = *plan_.systems[plan_.nodes[link.node].system].graph;
  std::uint32_t share = SlowLink::kWhole;
  for (const SlowLink& slow : links_) {
    const bool here = slow.host.empty() ||
                      identities_[HostOf(plan_, link)] == topology::HostIdentity("", "", slow.host);
    if (here && IsBetween(slow, graph, link.from, link.to))
      share = std::min(share, slow.millionths);
  }
  return share;
}

SlowRates::Loads SlowRates::LoadsOf(GraphId id) const {
  const plan::ChannelPlan& channels = plan_.channels();
  const TransferPurpose carriage =
      id == GraphId::kTree ? TransferPurpose::kTree : TransferPurpose::kRing;
  Loads loads;
  std::map<HardwareLink, std::uint32_t> shares;
  const auto add = [&](Rank from, Rank to, std::uint32_t channel) {
    const plan::GpuRoute route = plan::RouteOf(plan_, from, to, channel, carriage);
    for (std::size_t i = 0; i < route.links.size(); ++i) {
      const auto [known, fresh] = shares.try_emplace(route.links[i], SlowLink::kWhole);
      if (fresh) known->second = ShareOf(route.links[i]);
      if (known->second == SlowLink::kWhole) continue;
      Loads::Load& load = loads.slow[route.links[i]];
      ++(route.type == topology::PathType::kNet ? load.between : load.within);
      load.mb_per_s = route.hops[i].bandwidth.mb_per_s;
      load.share = known->second;
    }
  };
  for (std::uint32_t channel = 0; channel < ChannelsOf(id); ++channel)
    for (std::uint32_t i = 0; i < channels.rank_count(); ++i) {
      const Rank rank{i};
      const plan::Neighbours near = channels.At(rank, channel);
      if (carriage == TransferPurpose::kRing) {
        if (near.next != rank) add(rank, near.next, channel);
        continue;
      }
      if (near.up) add(rank, *near.up, channel);
      for (const auto& down : near.down)
        if (down) add(rank, *down, channel);
    }
  return loads;
}

std::uint32_t SlowRates::ChannelsOf(GraphId id) const {
  const plan::ChannelCounts counts = plan_.channels().counts();
  return id == GraphId::kTree ? counts.trees : counts.rings;
}

/// Returns the millionths of the bandwidth that the channels of a graph keep.
std::uint32_t SlowRates::RemainingShare(GraphId id, const plan::Common& graph,
                                        const Loads& loads) const {
  const bool has_edges = id == GraphId::kRing || id == GraphId::kTree;
  // A plan may double the channels of a search, each with half of the bandwidth.
  const std::uint32_t channels = ChannelsOf(id);
  const std::uint64_t within = std::uint64_t{graph.intra.mb_per_s} * graph.channels / channels;
  const std::uint64_t between = std::uint64_t{graph.inter.mb_per_s} * graph.channels / channels;
  std::uint64_t left = SlowLink::kWhole;
  for (const auto& [link, load] : loads.slow) {
    const std::uint64_t needed =
        std::max<std::uint64_t>(1, within * load.within + between * load.between);
    const bool full = !has_edges || needed >= load.mb_per_s;
    left = std::min<std::uint64_t>(
        left, full ? load.share : std::uint64_t{load.share} * load.mb_per_s / needed);
  }
  return static_cast<std::uint32_t>(left);
}

std::optional<plan::Tuning> SlowRates::TuningOf(const plan::TuningChoice& choice) const {
  if (links_.empty()) return std::nullopt;
  std::vector<const topology::Paths*> kinds;
  for (const plan::GpuSystem& system : plan_.systems) kinds.push_back(&system.paths);
  plan::TuningInput input = plan::TuningInputFor(kinds, plan_.joined, choice);
  input.constants = plan_.tuning.input().constants;
  const Loads rings = LoadsOf(GraphId::kRing), trees = LoadsOf(GraphId::kTree);
  bool slower = false;
  for (std::size_t i = 0; i < input.graphs.size(); ++i) {
    plan::Common& graph = input.graphs[i];
    const auto id = static_cast<GraphId>(i);
    const std::uint64_t left = RemainingShare(id, graph, id == GraphId::kTree ? trees : rings);
    if (left == SlowLink::kWhole) continue;
    slower = true;
    for (topology::Bandwidth* const width : {&graph.intra, &graph.inter})
      if (width->mb_per_s != 0)
        width->mb_per_s = static_cast<std::uint32_t>(
            std::max<std::uint64_t>(1, width->mb_per_s * left / SlowLink::kWhole));
  }
  if (!slower) return std::nullopt;
  return plan::Tuning(std::move(input), plan_.channels().counts());
}

}  // namespace ringlet::comm
