#include "plan/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "topology/paths.hpp"

namespace ringlet::plan {
namespace {

using topology::Bandwidth;
using topology::Graph;
using topology::NodeKind;

/// Id of the NUMA node that a rank hangs off.
std::uint32_t NumaOf(const Graph& graph, Rank rank) {
  return graph.at(graph.at(rank).links.front().to).number;
}

std::vector<Rank> RingOrder(const Graph& graph) {
  std::vector<std::uint32_t> lowest(graph.hosts().size(), graph.rank_count());
  std::vector<Rank> ranks;
  for (std::uint32_t i = 0; i < graph.rank_count(); ++i) {
    ranks.push_back(Rank{i});
    std::uint32_t& of_host = lowest[graph.at(Rank{i}).host];
    of_host = std::min(of_host, i);
  }
  const auto key = [&](Rank rank) {
    return std::tuple(lowest[graph.at(rank).host], NumaOf(graph, rank), Index(rank));
  };
  std::sort(ranks.begin(), ranks.end(), [&](Rank a, Rank b) { return key(a) < key(b); });
  return ranks;
}

/// How wide the ways from one rank are: to ranks of its host, and out of its host.
class Reach {
 public:
  Reach(const Graph& graph, Rank rank)
      : graph_(graph),
        host_(graph.at(rank).host),
        widest_(topology::WidestFrom(graph, graph.NodeOf(rank))) {}

  Bandwidth To(Rank other) const {
    return graph_.at(other).host == host_ ? widest_[Position(other)] : Bandwidth();
  }
  Bandwidth Outside() const {
    Bandwidth best;
    const topology::HostNodes& nodes = graph_.hosts()[host_];
    for (std::uint32_t i = nodes.first; i < nodes.end; ++i)
      if (graph_.nodes()[i].kind == NodeKind::kNet) best = std::max(best, widest_[i - nodes.first]);
    return best;
  }

 private:
  std::size_t Position(Rank rank) const {
    return Index(graph_.NodeOf(rank)) - graph_.hosts()[host_].first;
  }

  const Graph& graph_;
  std::uint32_t host_;
  std::vector<Bandwidth> widest_;
};

/// The bandwidth of one hop of the ring; 0 where there is no way.
Bandwidth Hop(const Graph& graph, Rank from, Rank to) {
  const Reach reach(graph, from);
  if (graph.at(from).host == graph.at(to).host) return reach.To(to);
  return std::min(reach.Outside(), Reach(graph, to).Outside());
}

}  // namespace

Result<ChannelPlan> Search(const Graph& graph, const SearchLimits& limits) {
  if (graph.rank_count() > limits.ranks_max) {
    return Error{Code::kUnsupported, fmt::format("planning is limited to {} ranks, not {}",
                                                 limits.ranks_max, graph.rank_count())};
  }
  Channel ring{RingOrder(graph), {}};
  std::optional<Bandwidth> narrowest;
  for (std::size_t i = 0; i < ring.ranks.size(); ++i) {
    const Rank from = ring.ranks[i];
    const Rank to = ring.ranks[(i + 1) % ring.ranks.size()];
    const Bandwidth hop = Hop(graph, from, to);
    if (hop.mb_per_s == 0) {
      return Error{Code::kUnsupported,
                   fmt::format("there is no path from rank {} to rank {}", Index(from), Index(to))};
    }
    narrowest = std::min(narrowest.value_or(hop), hop);
  }
  ring.bandwidth = narrowest.value_or(Bandwidth());
  return ChannelPlan{{std::move(ring)}};
}

}  // namespace ringlet::plan
