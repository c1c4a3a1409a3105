#include "plan/search/host_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "plan/search/best_search.hpp"
#include "plan/search/bound.hpp"
#include "plan/search/compat_search.hpp"

namespace ringlet::plan {
namespace {

constexpr std::uint32_t kCollnetDirectMax = 8;  // NCCL's
constexpr std::int64_t kWorth = 256;  // trees are moved to other channels for a 256th of the bound
constexpr std::size_t kOtherNumbersMax = 8;
constexpr std::size_t kRebalancesMax = 4;
constexpr std::uint32_t kManyTimes = 2;  // as many channels as NCCL takes are not too many

/// The request after the ring, which says how many channels trees have.
std::vector<Wanted> Others(std::uint32_t devices, std::uint32_t ring_channels,
                           const SearchOptions& options) {
  std::vector<Wanted> wanted = {
      {GraphId::kTree, Pattern::kBalancedTree, ring_channels, ring_channels}};
  const std::uint32_t heads = std::min(devices, kSearchChannelsMax);
  if (options.nvls)
    wanted.push_back({GraphId::kNvls, Pattern::kNvls, options.multi_node ? 1 : heads, heads});
  if (!options.collnet) return wanted;
  wanted.push_back({GraphId::kCollnetChain, Pattern::kTree, ring_channels, ring_channels});
  wanted.push_back(
      {GraphId::kCollnetDirect, Pattern::kCollnetDirect, 1, std::min(devices, kCollnetDirectMax)});
  return wanted;
}

std::uint32_t MostOf(const SearchOptions& options) {
  if (options.policy == Policy::kCompat || options.channels_max == 0) return kSearchChannelsMax;
  return std::min(options.channels_max, kSearchChannelsMax);
}

std::uint32_t LeastOf(const SearchOptions& options) {
  if (options.policy == Policy::kCompat) return 1;
  return std::clamp(options.channels_min, 1u, MostOf(options));
}

/// Everything that searches within one system need.
class HostSearch {
 public:
  HostSearch(RouteTable& table, const SearchOptions& options,
             std::vector<SearchTrace>* search_traces)
      : table_(table),
        options_(options),
        least_(LeastOf(options)),
        most_(MostOf(options)),
        stories_(search_traces),
        nets_(table, options),
        facts_(FactsOf(table, options.multi_node)),
        search_(table, nets_, options),
        direct_search_(table, nets_, options.multi_node),
        packings_(table, nets_, options.multi_node),
        tools_{table, search_, direct_search_, packings_, facts_, options},
        compat_(table, nets_, search_, facts_, options,
                [this](GraphId id) -> const Limits& { return LimitsOf(id); }) {}

  HostPlan Plan() {
    const HostPlan compat = Compat();
    if (options_.policy == Policy::kCompat && !options_.bounds) return compat;
    HostPlan plan = compat;
    if (options_.policy == Policy::kBest && direct_search_.any_order() && !AtBound(plan)) {
      budget_ = kQuickBudget;
      Improve(plan);
      budget_ = kBetterBudget;
    }
    if (options_.policy == Policy::kBest && direct_search_.lays() && !AtBound(plan))
      WidenToBound(plan);
    if (!AtBound(plan)) plan = Thorough(compat);
    if (options_.policy == Policy::kBest && options_.knee) TakeKnee(plan, compat);
    for (PatternGraph& graph : plan.graphs)
      if (!graph.channels.empty() && graph.total() >= graph.bound &&
          graph.stopped != StopReason::kFallback)
        graph.stopped = StopReason::kBound;
    return plan;
  }

  /// The least number of channels of the knee, if Plan took fewer than the most bandwidth needs and
  /// a search for no more may find better ones: by packing, of which each number has a part.
  const std::optional<std::uint32_t>& fewest() const { return fewest_; }

 private:
  SearchTrace* NewSearchTrace(GraphId id) {
    return stories_ == nullptr ? nullptr : &stories_->emplace_back(SearchTrace{id, {}, {}});
  }

  /// Whether that is as good as its bound, but for what is lost by rounding.
  static bool AtBound(const PatternGraph& graph) {
    return !graph.channels.empty() && graph.stopped != StopReason::kFallback &&
           graph.total().mb_per_s + graph.channels.size() > graph.bound.mb_per_s;
  }
  static bool AtBound(const HostPlan& plan) {
    return AtBound(plan.of(GraphId::kRing)) && AtBound(plan.of(GraphId::kTree));
  }

  /// NCCL's speeds are few: its channels may be at the bound if they get what their links have.
  /// Nothing changes if they are not.
  void WidenToBound(HostPlan& plan) {
    HostPlan wide = plan;
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
      PatternGraph& graph = wide.of(id);
      if (graph.channels.empty() || graph.stopped == StopReason::kFallback) return;
      const auto count = static_cast<std::uint32_t>(graph.channels.size());
      const std::uint32_t most = std::min(graph.bound.mb_per_s / count, facts_.widest.mb_per_s);
      const std::uint32_t width = direct_search_.WidthOf(graph, most);
      if (std::uint64_t{width} * count > graph.total().mb_per_s)
        graph.intra = graph.inter = {width};
      // Halves of a balanced tree are rounded up.
      const bool nearly = graph.total().mb_per_s + 2 * count >= graph.bound.mb_per_s;
      if (id == GraphId::kTree && options_.multi_node && nearly && !AtBound(graph)) {
        budget_ = kQuickBudget;
        graph = Better(graph, {id, Pattern::kTree, count, count});
        budget_ = kBetterBudget;
      }
      if (!AtBound(graph)) return;
    }
    plan = std::move(wide);
  }

  /// The least that fewer channels must have to be worth it.
  static std::uint64_t WorthOf(const PatternGraph& most, const PatternGraph& compat) {
    const std::uint64_t total = most.total().mb_per_s;
    const bool laid = compat.stopped != StopReason::kFallback;
    return std::max<std::uint64_t>(total - total / kKneePart, laid ? compat.total().mb_per_s : 0);
  }

  /// Takes the fewest channels that have nearly as much, but no fewer than NCCL does: one channel
  /// keeps no GPU busy.
  void TakeKnee(HostPlan& plan, const HostPlan& compat) {
    PatternGraph& ring = plan.of(GraphId::kRing);
    PatternGraph& tree = plan.of(GraphId::kTree);
    const auto as_compat = static_cast<std::uint32_t>(compat.of(GraphId::kRing).channels.size());
    const bool takes_seconds = packings_.usable() && !packings_.few();
    if (takes_seconds || ring.channels.size() <= kManyTimes * as_compat ||
        ring.stopped == StopReason::kFallback)
      return;
    const std::uint64_t rings = WorthOf(ring, compat.of(GraphId::kRing));
    const std::uint64_t trees = WorthOf(tree, compat.of(GraphId::kTree));
    const auto may_have = [&](GraphId id, std::uint32_t count, std::uint64_t worth) {
      const auto each = static_cast<std::int64_t>((worth + count - 1) / count);
      return LimitsNow(id).Allow(count, std::max<std::int64_t>(1, each));
    };
    for (std::uint32_t count = std::max(least_, as_compat); count < ring.channels.size(); ++count) {
      if (!may_have(GraphId::kRing, count, rings) || !may_have(GraphId::kTree, count, trees))
        continue;
      const PatternGraph fewer = FewerOf(ring, compat.of(GraphId::kRing), rings, count);
      if (fewer.channels.size() != count || fewer.total().mb_per_s < rings) continue;
      const PatternGraph its = FewerOf(tree, compat.of(GraphId::kTree), trees, count);
      if (its.channels.size() != count || its.total().mb_per_s < trees) continue;
      ring = fewer;
      tree = its;
      if (!direct_search_.any_order()) fewest_ = std::max(least_, as_compat);
      return;
    }
  }

  /// So many channels that together have as much as is worth it; if there are none, others.
  PatternGraph FewerOf(const PatternGraph& most, const PatternGraph& compat, std::uint64_t worth,
                       std::uint32_t count) {
    PatternGraph fewer = most;
    std::uint64_t floor = std::max<std::uint64_t>(worth, 1) - 1;
    if (compat.channels.size() == count && compat.total().mb_per_s >= worth) {
      fewer = compat;
      fewer.bound = most.bound;
      floor = compat.total().mb_per_s;
    }
    if (most.id == GraphId::kRing)
      return Better(fewer, floor, {most.id, Pattern::kRing, count, count});
    fewer = Better(fewer, floor, {most.id, Pattern::kBalancedTree, count, count});
    if (fewer.channels.size() == count) return fewer;
    return Better(fewer, floor, {most.id, Pattern::kTree, count, count});
  }

  /// With all that limits a host.
  HostPlan Thorough(HostPlan plan) {
    thorough_ = true;
    for (PatternGraph& graph : plan.graphs)
      if (!graph.channels.empty())
        graph.bound =
            BoundOf(table_, LimitsOf(graph.id), graph.id, options_.multi_node, graph.total());
    LowerBounds(plan);
    if (options_.policy != Policy::kBest) return plan;
    Improve(plan);
    if (AtBound(plan) || direct_search_.any_order() || !packings_.Admit()) return plan;
    budget_ = kBetterBudget;
    LowerBounds(plan);
    Improve(plan);
    return plan;
  }

  /// By what links are worth, where that is known.
  void LowerBounds(HostPlan& plan) {
    if (!packings_.usable()) return;
    for (PatternGraph& graph : plan.graphs) {
      if (graph.channels.empty() || graph.total() >= graph.bound) continue;
      if (graph.id != GraphId::kRing && graph.id != GraphId::kTree) continue;
      const std::int64_t bound =
          packings_.BoundOf(graph.id, graph.total().mb_per_s, graph.bound.mb_per_s);
      graph.bound = {static_cast<std::uint32_t>(bound)};
    }
  }

  /// The bound, where one is wanted, is that of NICs and devices alone, which many plans reach.
  PatternGraph Find(const Wanted& wanted) {
    PatternGraph graph = compat_.Find(wanted, NewSearchTrace(wanted.id));
    if (options_.bounds || options_.policy == Policy::kBest)
      graph.bound = BoundOfLimits(table_, EndsOf(wanted.id), wanted.id, options_.multi_node);
    return graph;
  }

  PatternGraph Better(const PatternGraph& than, std::uint64_t floor, const Wanted& wanted) {
    return FindBetter(tools_, {than, floor, wanted, LimitsNow(wanted.id)}, budget_,
                      NewSearchTrace(wanted.id));
  }

  PatternGraph Better(const PatternGraph& than, const Wanted& wanted) {
    const bool fallen_back = than.stopped == StopReason::kFallback;
    return Better(than, fallen_back ? 0 : than.total().mb_per_s, wanted);
  }

  /// Those of rings, or those of everything that does not go round.
  const Limits& LimitsOf(GraphId id) { return Made(limits_, id, Limits::Detail::kLinks); }
  const Limits& EndsOf(GraphId id) { return Made(ends_, id, Limits::Detail::kEnds); }
  const Limits& LimitsNow(GraphId id) { return thorough_ ? LimitsOf(id) : EndsOf(id); }

  using TwoLimits = std::array<std::optional<Limits>, 2>;
  const Limits& Made(TwoLimits& made, GraphId id, Limits::Detail detail) {
    std::optional<Limits>& limits = made[id == GraphId::kRing ? 0 : 1];
    if (!limits) limits.emplace(table_, nets_, id, options_.multi_node, detail);
    return *limits;
  }

  HostPlan Compat() {
    HostPlan plan;
    plan.devices = table_.device_count();
    plan.nics = table_.net_count();
    plan.multi_node = options_.multi_node;
    plan.of(GraphId::kRing) = Find({GraphId::kRing, Pattern::kRing, least_, most_});
    const auto rings = static_cast<std::uint32_t>(plan.of(GraphId::kRing).channels.size());
    for (const Wanted& wanted : Others(plan.devices, rings, options_))
      plan.of(wanted.id) = Find(wanted);
    return plan;
  }

  /// Trees have as many channels as rings, so that a better ring is taken only where its number of
  /// channels makes no worse trees.
  void Improve(HostPlan& plan) {
    PatternGraph& tree = plan.of(GraphId::kTree);
    const std::uint64_t floor = plan.of(GraphId::kRing).total().mb_per_s;
    const PatternGraph ring =
        Better(plan.of(GraphId::kRing), {GraphId::kRing, Pattern::kRing, least_, most_});
    const auto rings = static_cast<std::uint32_t>(ring.channels.size());
    if (rings == tree.channels.size()) {
      plan.of(GraphId::kRing) = ring;
      tree = BestTree(tree);
    } else if (const PatternGraph other = TreeOf(rings, tree); other.channels.size() == rings) {
      plan.of(GraphId::kRing) = ring;
      tree = BestTree(other);
    } else {
      ImproveTogether(plan);
    }
    Rebalance(plan, floor);
  }

  /// A tree of so many channels that is no worse, or the same as before.
  PatternGraph TreeOf(std::uint32_t channels, const PatternGraph& than) {
    const std::uint64_t least = std::max(than.total().mb_per_s, 1u) - 1;
    PatternGraph other =
        Better(than, least, {GraphId::kTree, Pattern::kBalancedTree, channels, channels});
    if (other.channels.size() != channels)
      other = Better(than, least, {GraphId::kTree, Pattern::kTree, channels, channels});
    return other;
  }

  /// If trees have less with as many channels as the best rings: of the numbers of channels with
  /// which trees have no less, the one with which rings have most.
  void ImproveTogether(HostPlan& plan) {
    PatternGraph ring = plan.of(GraphId::kRing);
    PatternGraph tree = plan.of(GraphId::kTree);
    const auto trees = static_cast<std::uint32_t>(tree.channels.size());
    ring = Better(ring, {GraphId::kRing, Pattern::kRing, trees, trees});
    for (std::uint32_t count = least_; count <= most_ && packings_.usable(); ++count) {
      if (count == trees) continue;
      const PatternGraph other = Better(ring, {GraphId::kRing, Pattern::kRing, count, count});
      if (other.channels.size() != count) continue;
      const PatternGraph its = TreeOf(count, plan.of(GraphId::kTree));
      if (its.channels.size() != count) continue;
      ring = other;
      tree = its;
    }
    plan.of(GraphId::kRing) = ring;
    plan.of(GraphId::kTree) = BestTree(tree);
  }

  PatternGraph BestTree(const PatternGraph& than) {
    const auto channels = static_cast<std::uint32_t>(than.channels.size());
    PatternGraph best = than;
    best = Better(best, {GraphId::kTree, Pattern::kBalancedTree, channels, channels});
    // They differ in how they leave by NICs.
    if (options_.multi_node)
      best = Better(best, {GraphId::kTree, Pattern::kTree, channels, channels});
    return best;
  }

  /// Numbers of channels with which trees may be better and rings as good, the most promising
  /// first.
  std::vector<std::uint32_t> OtherNumbers(const HostPlan& plan) {
    const PatternGraph& ring = plan.of(GraphId::kRing);
    const PatternGraph& tree = plan.of(GraphId::kTree);
    const auto now = static_cast<std::uint32_t>(ring.channels.size());
    const std::int64_t bound = tree.bound.mb_per_s, found = tree.total().mb_per_s * kWorth / bound;
    std::vector<std::pair<std::int64_t, std::uint32_t>> list;
    for (std::uint32_t count = least_; count <= most_; ++count) {
      // The least that makes a part more than was found.
      const std::int64_t least = ((found + 1) * bound - bound / 2) / (kWorth * count);
      if (count == now || !LimitsNow(GraphId::kTree).Allow(count, std::max<std::int64_t>(1, least)))
        continue;
      const std::int64_t each = std::max<std::int64_t>(1, ring.total().mb_per_s / count);
      if (!LimitsNow(GraphId::kRing).Allow(count, each)) continue;
      const std::int64_t most = std::int64_t{count} * LimitsNow(GraphId::kTree).MostOf(count);
      const std::int64_t part = (std::min(most, bound) * kWorth + bound / 2) / bound;
      if (part > found) list.emplace_back(-part, count);
    }
    const auto off = [&](std::uint32_t count) { return count > now ? count - now : now - count; };
    std::sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
      return std::tuple(a.first, off(a.second), b.second) <
             std::tuple(b.first, off(b.second), a.second);
    });
    std::vector<std::uint32_t> numbers;
    for (const auto& [most, count] : list)
      if (numbers.size() < kOtherNumbersMax || !packings_.few()) numbers.push_back(count);
    return numbers;
  }

  /// Takes other numbers of channels as long as they make trees better.
  /// \param floor  of rings, MB/s
  void Rebalance(HostPlan& plan, std::uint64_t floor) {
    const std::uint64_t total = plan.of(GraphId::kRing).total().mb_per_s;
    for (std::size_t i = 0; i < kRebalancesMax && RebalanceOnce(plan, floor, total); ++i) {
    }
  }

  /// Takes another number of channels where that makes trees better and rings no worse, but for
  /// what is lost by rounding.
  /// \param total  of rings, MB/s, before any was taken
  /// \return whether there is one
  bool RebalanceOnce(HostPlan& plan, std::uint64_t floor, std::uint64_t total) {
    PatternGraph& ring = plan.of(GraphId::kRing);
    PatternGraph& tree = plan.of(GraphId::kTree);
    const bool usable = !ring.channels.empty() && !tree.channels.empty() &&
                        ring.stopped != StopReason::kFallback && tree.bound.mb_per_s > 0;
    if (!usable || AtBound(tree)) return false;
    if (direct_search_.any_order() && options_.multi_node)
      return false;  // NICs are what limits both
    for (const std::uint32_t count : OtherNumbers(plan)) {
      PatternGraph other_tree = tree;
      for (const Pattern pattern : {Pattern::kBalancedTree, Pattern::kTree})
        other_tree = Better(other_tree, {GraphId::kTree, pattern, count, count});
      if (other_tree.channels.size() != count) continue;
      const std::uint64_t least = std::max(floor, total > count ? total - count : 0);
      const PatternGraph other_ring =
          Better(ring, least > 0 ? least - 1 : 0, {GraphId::kRing, Pattern::kRing, count, count});
      if (other_ring.channels.size() != count) continue;
      ring = other_ring;
      tree = other_tree;
      return true;
    }
    return false;
  }

  RouteTable& table_;
  const SearchOptions& options_;
  const std::uint32_t least_, most_;  // channels of rings
  std::vector<SearchTrace>* stories_;
  NicSelector nets_;
  const SystemFacts facts_;
  ChannelSearch search_;
  DirectSearch direct_search_;
  Packings packings_;
  const HostTools tools_;
  CompatSearch compat_;
  TwoLimits limits_, ends_;
  bool thorough_ = false;
  std::optional<std::uint32_t> fewest_;
  std::int64_t budget_ = kBetterBudget;
};

/// The fewest channels that have nearly as much, which may have more if nothing else is searched
/// for.
HostPlan SearchAtKnee(RouteTable& table, const SearchOptions& options,
                      std::vector<SearchTrace>* search_traces) {
  HostSearch search(table, options, search_traces);
  HostPlan plan = search.Plan();
  if (!search.fewest()) return plan;
  SearchOptions fewer = options;
  fewer.knee = false;
  fewer.channels_min = *search.fewest();
  fewer.channels_max = static_cast<std::uint32_t>(plan.of(GraphId::kRing).channels.size());
  std::vector<SearchTrace> traces;
  HostPlan again = HostSearch(table, fewer, search_traces == nullptr ? nullptr : &traces).Plan();
  for (const GraphId id : {GraphId::kRing, GraphId::kTree})
    if (again.of(id).total() < plan.of(id).total()) return plan;
  if (search_traces != nullptr) *search_traces = std::move(traces);
  return again;
}

/// With more channels than the best plan has only where they carry as much as that one.
HostPlan SearchWithLeast(RouteTable& table, const SearchOptions& options,
                         std::vector<SearchTrace>* search_traces) {
  SearchOptions any = options;
  any.channels_min = 1;
  HostPlan plan = SearchAtKnee(table, any, search_traces);
  const std::uint32_t least = LeastOf(options);
  if (plan.of(GraphId::kRing).channels.size() >= least) return plan;
  std::vector<SearchTrace> traces;
  HostPlan more = HostSearch(table, options, search_traces == nullptr ? nullptr : &traces).Plan();
  for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
    const PatternGraph &with = more.of(id), &without = plan.of(id);
    const bool as_good = with.stopped != StopReason::kFallback && with.channels.size() >= least &&
                         with.total().mb_per_s + with.channels.size() >= without.total().mb_per_s;
    if (!as_good) return plan;
  }
  if (search_traces != nullptr) *search_traces = std::move(traces);
  return more;
}

}  // namespace

Result<HostPlan> SearchHost(const topology::Paths& paths, const SearchOptions& options,
                            std::vector<SearchTrace>* search_traces) {
  RouteTable table(paths);
  if (table.device_count() == 0 || table.device_count() > kSearchDevicesMax)
    return Error{Code::kUnsupported,
                 fmt::format("a host with 1 to {} ranks can be planned, not with {}",
                             kSearchDevicesMax, table.device_count())};
  return SearchWithLeast(table, options, search_traces);
}

}  // namespace ringlet::plan
