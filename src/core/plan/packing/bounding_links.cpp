#include "plan/packing/bounding_links.hpp"

#include <algorithm>

#include "plan/packing/packing.hpp"
#include "plan/routes/channel_ways.hpp"
#include "plan/routes/limits.hpp"
#include "plan/routes/nic_selector.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {
namespace {

constexpr std::int64_t kFullPerMille = 990;     // of a link; the rest is rounding
constexpr std::uint32_t kSharePerMilleMin = 5;  // smaller shares are noise of the prices

class LinkFinder {
 public:
  LinkFinder(const topology::Paths& paths, const SearchOptions& options, const PatternGraph& graph)
      : table_(paths), nets_(table_, options), multi_node_(options.multi_node), graph_(graph) {
    NumberEnds();
  }

  BoundingLinks Find() {
    Packings packings(table_, nets_, multi_node_);
    const bool at_bound = graph_.total().mb_per_s + graph_.channels.size() > graph_.bound.mb_per_s;
    if (!packings.few() && !at_bound) packings.Admit();
    BoundingLinks found;
    if (packings.usable()) found.list = ByPrices(packings);
    found.by_prices = !found.list.empty();
    const std::vector<BoundingLink> priced = found.list;
    for (const BoundingLink& full : FullLinks()) {
      const bool known = std::ranges::any_of(priced, [&](BoundingLink link) {
        link.per_mille = 0;
        return link == full;
      });
      if (!known) found.list.push_back(full);
    }
    return found;
  }

 private:
  std::vector<BoundingLink> ByPrices(Packings& packings) {
    const Pattern pattern = graph_.pattern == Pattern::kSplitTree ? Pattern::kTree : graph_.pattern;
    const CrossNic crossing = pattern == Pattern::kTree ? CrossNic::kSame : CrossNic::kAny;
    const std::uint32_t scale = std::max(graph_.bound.mb_per_s, graph_.total().mb_per_s);
    Packing& packing = packings.Of(pattern, crossing, scale);
    packing.Solve(0);
    std::vector<BoundingLink> list;
    for (const Packing::ResourceShare& share : packing.Shares())
      if (share.per_mille >= kSharePerMilleMin)
        list.push_back(LinkOf(share.resource, share.per_mille));
    return list;
  }

  /// The links and ports that the channels fill, or would fill at the bandwidth of the bound.
  std::vector<BoundingLink> FullLinks() {
    std::vector<std::int64_t> loads(links_.size() + 2 * nets_.port_count(), 0);
    const auto width = static_cast<std::int64_t>(graph_.total().mb_per_s / graph_.channels.size());
    for (const LocalChannel& channel : graph_.channels) {
      ForEachRoute(graph_.pattern, channel, [&](EndIndex from, EndIndex to, bool half) {
        const Route& route = table_.Find(from, to);
        for (std::uint32_t i = 0; i < route.count; ++i) {
          const RouteStep& step = table_.Steps(route)[i];
          const Charge charge = ChargeOf(step, half ? width / 2 : width);
          loads[step.link] += charge.forth;
          loads[step.back] += charge.back;
        }
        return true;
      });
      if (channel.entry) loads[links_.size() + nets_.PortOf(*channel.entry)] += width;
      if (channel.exit)
        loads[links_.size() + nets_.port_count() + nets_.PortOf(*channel.exit)] += width;
    }
    const std::int64_t total = graph_.total().mb_per_s;
    const std::int64_t bound = std::max<std::int64_t>(total, graph_.bound.mb_per_s);
    std::vector<BoundingLink> list;
    for (std::uint32_t resource = 0; resource < loads.size(); ++resource) {
      if (loads[resource] == 0) continue;
      const BoundingLink link = LinkOf(resource, 0);
      const std::int64_t full = std::int64_t{link.bandwidth.mb_per_s} * total / bound;
      if (loads[resource] * 1000 >= full * kFullPerMille) list.push_back(link);
    }
    return list;
  }

  /// Lists links in the order of RouteTable's link numbers, node by node.
  void NumberEnds() {
    const topology::Graph& graph = table_.paths().graph();
    const topology::SystemNodes& system = table_.paths().system();
    for (std::uint32_t i = system.first; i < system.end; ++i)
      for (const topology::Link& link : graph.nodes()[i].links)
        links_.push_back(
            {topology::NodeIndex{i}, link.to, false, false, link.kind, link.bandwidth});
  }

  BoundingLink LinkOf(std::uint32_t resource, std::uint32_t per_mille) const {
    BoundingLink link;
    if (resource < links_.size()) {
      link = links_[resource];
    } else {
      const auto port = static_cast<std::uint32_t>(resource - links_.size());
      link.is_port = true;
      link.is_in = port < nets_.port_count();
      link.kind = topology::LinkKind::kNetwork;
      for (std::uint32_t net = table_.net_count(); net-- > 0;) {
        if (nets_.PortOf(net) != port % nets_.port_count()) continue;
        link.from = link.to = table_.nets()[net];
        link.bandwidth.mb_per_s =
            std::max(link.bandwidth.mb_per_s, static_cast<std::uint32_t>(table_.NetMbPerS(net)));
      }
    }
    link.per_mille = per_mille;
    return link;
  }

  RouteTable table_;
  NicSelector nets_;
  const bool multi_node_;
  const PatternGraph& graph_;
  std::vector<BoundingLink> links_;  // by link number
};

}  // namespace

BoundingLinks FindBoundingLinks(const topology::Paths& paths, const SearchOptions& options,
                                const PatternGraph& graph) {
  const bool chains = graph.id == GraphId::kRing || graph.id == GraphId::kTree;
  if (!chains || graph.channels.empty() || graph.stopped == StopReason::kFallback) return {};
  return LinkFinder(paths, options, graph).Find();
}

}  // namespace ringlet::plan
