#include "plan/policy/host_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "plan/policy/best_search.hpp"
#include "plan/search/bound.hpp"
#include "plan/search/compat_search.hpp"

namespace ringlet::plan {
namespace {

constexpr std::uint32_t kCollnetDirectMax = 8;  // NCCL's
constexpr std::uint32_t kManyTimes = 2;  // up to this multiple of NCCL's channels is acceptable

/// The requests after the ring. The ring determines the number of channels of trees.
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

/// Holds the parts that all searches within one system need.
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
    if (options_.policy == Policy::kBest && options_.knee) TakeKnees(plan, compat);
    for (PatternGraph& graph : plan.graphs)
      if (!graph.channels.empty() && graph.total() >= graph.bound &&
          graph.stopped != StopReason::kFallback)
        graph.stopped = StopReason::kBound;
    return plan;
  }

 private:
  SearchTrace* NewSearchTrace(GraphId id) {
    return stories_ == nullptr ? nullptr : &stories_->emplace_back(SearchTrace{id, {}, {}});
  }

  /// Returns true if the graph reaches its bound, except for rounding.
  static bool AtBound(const PatternGraph& graph) {
    return !graph.channels.empty() && graph.stopped != StopReason::kFallback &&
           graph.total().mb_per_s + graph.channels.size() > graph.bound.mb_per_s;
  }
  static bool AtBound(const HostPlan& plan) {
    return AtBound(plan.of(GraphId::kRing)) && AtBound(plan.of(GraphId::kTree));
  }

  /// Widens NCCL's channels to the bandwidth of their links, because NCCL tries few bandwidths.
  /// Changes the plan only if it then reaches its bounds.
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
        graph = Better(graph, graph.total().mb_per_s, {id, Pattern::kTree, count, count});
        budget_ = kBetterBudget;
      }
      if (!AtBound(graph)) return;
    }
    plan = std::move(wide);
  }

  /// The minimum total that makes fewer channels worthwhile.
  static std::uint64_t WorthOf(const PatternGraph& most, const PatternGraph& compat) {
    const std::uint64_t total = most.total().mb_per_s;
    const bool laid = compat.stopped != StopReason::kFallback;
    return std::max<std::uint64_t>(total - total / kKneePart, laid ? compat.total().mb_per_s : 0);
  }

  /// Takes the fewest channels with almost the same total, but no fewer than NCCL: a single channel
  /// cannot keep a GPU busy.
  void TakeKnees(HostPlan& plan, const HostPlan& compat) {
    for (const GraphId id : {GraphId::kRing, GraphId::kTree})
      ChooseKnee(plan.of(id), compat.of(id));
  }

  void ChooseKnee(PatternGraph& most, const PatternGraph& compat) {
    const auto as_compat = static_cast<std::uint32_t>(compat.channels.size());
    if (most.channels.size() <= kManyTimes * as_compat || most.stopped == StopReason::kFallback)
      return;
    const std::uint64_t worth = WorthOf(most, compat);
    const std::uint32_t fewest = std::max(least_, as_compat);
    for (std::uint32_t count = fewest; count < most.channels.size(); ++count) {
      const auto each = static_cast<std::int64_t>((worth + count - 1) / count);
      if (!LimitsNow(most.id).Allow(count, std::max<std::int64_t>(1, each))) continue;
      const PatternGraph fewer = FewerOf(most, compat, worth, count);
      if (fewer.channels.size() != count || fewer.total().mb_per_s < worth) continue;
      most = fewer;
      return;
    }
  }

  /// `count` channels with a total of at least `worth`. Otherwise returns other channels.
  PatternGraph FewerOf(const PatternGraph& most, const PatternGraph& compat, std::uint64_t worth,
                       std::uint32_t count) {
    PatternGraph fewer = most;
    std::uint64_t floor = std::max<std::uint64_t>(worth, 1) - 1;
    if (compat.channels.size() == count && compat.total().mb_per_s >= worth) {
      fewer = compat;
      fewer.bound = most.bound;
      floor = compat.total().mb_per_s;
    }
    return BestOf(fewer, floor, count, count);
  }

  /// Plans with all limits of a host.
  HostPlan Thorough(HostPlan plan) {
    thorough_ = true;
    for (PatternGraph& graph : plan.graphs)
      if (!graph.channels.empty())
        graph.bound =
            BoundOf(table_, LimitsOf(graph.id), graph.id, options_.multi_node, graph.total());
    LowerBounds(plan, &Packings::BoundOf);
    if (options_.policy != Policy::kBest) return plan;
    Improve(plan);
    if (!AtBound(plan) && !direct_search_.any_order() && packings_.Admit()) {
      budget_ = kBetterBudget;
      LowerBounds(plan, &Packings::BoundOf);
      Improve(plan);
    }
    LowerBounds(plan, &Packings::BoundOfEqual);
    return plan;
  }

  /// Lowers the bounds by the prices of links, if packings are usable.
  void LowerBounds(HostPlan& plan, decltype(&Packings::BoundOf) bound_of) {
    if (!packings_.usable()) return;
    for (PatternGraph& graph : plan.graphs) {
      if (graph.channels.empty() || graph.total() >= graph.bound) continue;
      if (graph.id != GraphId::kRing && graph.id != GraphId::kTree) continue;
      const std::int64_t bound =
          (packings_.*bound_of)(graph.id, graph.total().mb_per_s, graph.bound.mb_per_s);
      graph.bound = {static_cast<std::uint32_t>(bound)};
    }
  }

  /// Runs NCCL's search. The bound, if requested, counts NICs and devices only. Many plans reach
  /// this one.
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

  /// The limits of rings, or the limits of all other patterns.
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

  /// Improves rings and trees separately. Each gets its own best number of channels.
  void Improve(HostPlan& plan) {
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
      PatternGraph& graph = plan.of(id);
      const bool fallen_back = graph.stopped == StopReason::kFallback;
      graph = BestOf(graph, fallen_back ? 0 : graph.total().mb_per_s, least_, most_);
    }
  }

  /// Searches for more than `floor` with a number of channels in this range, for each pattern of
  /// the graph. Returns `than` if none exists.
  PatternGraph BestOf(const PatternGraph& than, std::uint64_t floor, std::uint32_t channels_min,
                      std::uint32_t channels_max) {
    if (than.id == GraphId::kRing)
      return Better(than, floor, {than.id, Pattern::kRing, channels_min, channels_max});
    PatternGraph best =
        Better(than, floor, {than.id, Pattern::kBalancedTree, channels_min, channels_max});
    // The tree patterns differ in their routes to NICs only.
    if (!options_.multi_node) return best;
    const std::uint32_t total = best.total().mb_per_s;
    if (!AtBound(best))
      return Better(best, std::max<std::uint64_t>(floor, total),
                    {than.id, Pattern::kTree, channels_min, channels_max});
    if (direct_search_.any_order()) return best;
    const auto fewer = static_cast<std::uint32_t>(best.channels.size()) - 1;
    const PatternGraph other =
        Better(best, total - 1, {than.id, Pattern::kTree, channels_min, fewer});
    return other.total() >= best.total() ? other : best;
  }

  RouteTable& table_;
  const SearchOptions& options_;
  const std::uint32_t least_, most_;  // limits of the number of channels
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
  std::int64_t budget_ = kBetterBudget;
};

/// Uses more channels than the best plan only if they carry as much.
HostPlan SearchWithLeast(RouteTable& table, const SearchOptions& options,
                         std::vector<SearchTrace>* search_traces) {
  SearchOptions any = options;
  any.channels_min = 1;
  HostPlan plan = HostSearch(table, any, search_traces).Plan();
  const std::uint32_t least = LeastOf(options);
  const auto has_least = [&](const HostPlan& one, GraphId id) {
    return one.of(id).channels.size() >= least;
  };
  if (has_least(plan, GraphId::kRing) && has_least(plan, GraphId::kTree)) return plan;
  std::vector<SearchTrace> traces;
  HostPlan more = HostSearch(table, options, search_traces == nullptr ? nullptr : &traces).Plan();
  for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
    const PatternGraph &with = more.of(id), &without = plan.of(id);
    const bool as_good = with.stopped != StopReason::kFallback && has_least(more, id) &&
                         with.total().mb_per_s + with.channels.size() >= without.total().mb_per_s;
    if (as_good && !has_least(plan, id)) plan.of(id) = with;
  }
  if (search_traces != nullptr) *search_traces = std::move(traces);
  return plan;
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
