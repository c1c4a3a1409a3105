#include "plan/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "plan/channels/cpu_memory.hpp"

namespace ringlet::plan {
namespace {

using topology::Bandwidth;
using topology::Graph;

Error NoPath(Rank from, Rank to) {
  return {Code::kUnsupported,
          fmt::format("no path leads from rank {} to rank {}", Index(from), Index(to))};
}

/// The ranks of each host with ranks, ascending. Hosts are in the order of their lowest rank.
std::vector<std::vector<Rank>> RanksByHost(const Graph& graph) {
  std::vector<std::uint32_t> position(graph.hosts().size(), graph.rank_count());
  std::vector<std::vector<Rank>> hosts;
  for (std::uint32_t i = 0; i < graph.rank_count(); ++i) {
    std::uint32_t& its = position[graph.at(Rank{i}).host];
    if (its == graph.rank_count()) {
      its = static_cast<std::uint32_t>(hosts.size());
      hosts.emplace_back();
    }
    hosts[its].push_back(Rank{i});
  }
  return hosts;
}

class Planner {
 public:
  Planner(const Graph& graph, const SearchLimits& limits)
      : graph_(graph), limits_(limits), hosts_(RanksByHost(graph)) {}

  Result<ChannelPlan> Run() {
    for (const std::vector<Rank>& ranks : hosts_) RINGLET_TRY(Classify(ranks));
    RINGLET_TRY(CheckRoutes());
    const bool twice = !limits_.plain && limits_.channels_max > 1 && TwoCarryMore();
    ChannelPlan::Options options;
    const std::uint32_t base = twice ? 2 : 1;
    options.rings.assign(base, Narrowest(twice));
    options.trees.assign(base, {TreeSpeed().mb_per_s / base});
    options.ring_channels = std::clamp(base, limits_.channels_min,
                                       std::max(limits_.channels_max, limits_.channels_min));
    options.tree_channels = options.ring_channels;
    // With two channels, each has its own tree.
    options.channels_of_a_tree = 1;
    std::vector<NodeShape> shapes;
    for (const CpuMemoryShape& host : kinds_) shapes.push_back(ShapeOf(host, twice));
    ChannelPlan plan(std::move(options), std::move(shapes));
    for (std::size_t i = 0; i < hosts_.size(); ++i) plan.AddNode(kind_of_[i], hosts_[i]);
    plan.Finish();
    return plan;
  }

 private:
  Status Classify(const std::vector<Rank>& ranks) {
    const auto [at, is_new] =
        known_.try_emplace(CpuMemoryKey(graph_, ranks), static_cast<std::uint32_t>(kinds_.size()));
    kind_of_.push_back(at->second);
    if (!is_new) return Ok();
    kinds_.push_back(ComputeCpuMemoryShape(graph_, ranks, hosts_.size() > 1 && !limits_.plain));
    if (const auto gap = kinds_.back().gap) return NoPath(ranks[gap->first], ranks[gap->second]);
    return Ok();
  }

  // Checks that each host has a path to the next one.
  Status CheckRoutes() const {
    if (hosts_.size() == 1) return Ok();
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const std::size_t next = (i + 1) % hosts_.size();
      const CpuMemoryShape &here = Kind(i), &there = Kind(next);
      if (here.routes.exit.mb_per_s == 0 || there.routes.entry.mb_per_s == 0)
        return NoPath(hosts_[i][here.order.back()], hosts_[next][there.order.front()]);
    }
    return Ok();
  }

  const CpuMemoryShape& Kind(std::size_t host) const { return kinds_[kind_of_[host]]; }

  Bandwidth Narrowest(bool twice) const {
    std::optional<Bandwidth> narrowest;
    for (const CpuMemoryShape& kind : kinds_) {
      Bandwidth its = kind.inside;
      if (hosts_.size() > 1) {
        const Routes& routes = twice ? kind.both_ways : kind.routes;
        its = std::min({its, routes.entry, routes.exit});
      }
      if (twice) its = std::min(its, Bandwidth{kind.memory.mb_per_s / 2});
      narrowest = std::min(narrowest.value_or(its), its);
    }
    return narrowest.value_or(Bandwidth());
  }

  bool TwoCarryMore() const {
    return hosts_.size() > 1 && 2ull * Narrowest(true).mb_per_s > Narrowest(false).mb_per_s;
  }

  Bandwidth TreeSpeed() const {
    Bandwidth speed = Narrowest(false);
    for (const CpuMemoryShape& kind : kinds_) speed = std::min(speed, kind.tree_inside);
    return speed;
  }

  const Graph& graph_;
  const SearchLimits& limits_;
  std::vector<std::vector<Rank>> hosts_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known_;
  std::vector<CpuMemoryShape> kinds_;
  std::vector<std::uint32_t> kind_of_;  // by index of hosts_
};

}  // namespace

Result<ChannelPlan> Search(const Graph& graph, const SearchLimits& limits) {
  if (graph.rank_count() > limits.ranks_max) {
    return Error{Code::kUnsupported, fmt::format("planning is limited to {} ranks, not {}",
                                                 limits.ranks_max, graph.rank_count())};
  }
  RINGLET_TRY_ASSIGN(ChannelPlan found, Planner(graph, limits).Run());
  if (limits.given.file.empty()) return found;
  return FollowGraphs(limits.given, found, graph, {limits.channels_min, limits.channels_max});
}

}  // namespace ringlet::plan
