#include "plan/policy/best_search.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "topology/graph/bandwidth.hpp"

namespace ringlet::plan {
namespace {

using topology::PathType;

constexpr std::int64_t kBudgetPattern = 48'000;  // per pattern and number of channels
constexpr std::int64_t kBudgetOne = 4'096;       // per search step
constexpr std::int64_t kBudgetDirect = 8'000;    // for direct search without an NVSwitch
// More channels hardly help, because NICs are the shared resource.
constexpr std::uint32_t kDirectChannelsMax = 16;
constexpr std::uint64_t kLooksPerStep = 2;  // steps of DirectSearch are short
constexpr std::uint32_t kTotalSteps = 64;   // totals within the same part of the bound are equal
constexpr std::uint32_t kLeastMbPerS = 100;

constexpr std::uint32_t kFar = 64;       // search longer if this part of the bound is missing
constexpr std::uint32_t kTreesFar = 32;  // the same for trees
constexpr std::int64_t kNear = 256;      // bounds within this part of each other are equal
constexpr int kWidenings = 8;  // bisection steps between a fitting and a failing bandwidth

/// Parts of the maximum of a channel, in kTotalSteps.
constexpr std::uint32_t kParts[] = {64, 62, 60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16};

std::vector<SearchStep> SearchStepsOf(const Wanted& wanted, const Division& division,
                                      const SystemFacts& facts, const SearchOptions& options) {
  SearchStep search_step;
  search_step.id = wanted.id;
  search_step.pattern = wanted.pattern;
  search_step.intra_mb_per_s = search_step.inter_mb_per_s = division.mb_per_s;
  search_step.type_intra = facts.max_intra;
  search_step.type_inter = facts.max_inter;
  search_step.min_channels = search_step.max_channels = division.channels;
  std::vector<SearchStep> search_steps;
  std::vector<std::uint8_t> crossings = {0};
  if (wanted.pattern != Pattern::kTree && options.multi_node && options.cross_nic != 0)
    crossings = {0, 2, 1};
  for (const std::uint8_t cross_nic : crossings) {
    for (const bool same : {true, false}) {
      search_step.cross_nic = cross_nic;
      search_step.same_channels = same;
      search_steps.push_back(search_step);
    }
  }
  return search_steps;
}

}  // namespace

std::vector<Division> DivisionsOf(const DivisionRange& range, const Limits& limits,
                                  std::uint32_t widest) {
  std::vector<Division> list;
  for (std::uint32_t channels = range.channels_min; channels <= range.channels_max; ++channels) {
    const std::int64_t least = static_cast<std::int64_t>(range.floor / channels) + 1;
    if (!limits.Allow(channels, std::max<std::int64_t>(least, kLeastMbPerS))) continue;
    const std::int64_t most =
        std::min<std::int64_t>({limits.MostOf(channels), range.bound / channels, widest});
    std::int64_t last = 0;
    for (const std::int64_t part : kParts) {
      const std::int64_t each = most * part / kTotalSteps;
      if (each == last || each < kLeastMbPerS || each < least) continue;
      last = each;
      list.push_back({channels, static_cast<std::uint32_t>(each)});
    }
  }
  const auto key = [&](const Division& one) {
    const std::uint64_t total = std::uint64_t{one.channels} * one.mb_per_s;
    const std::uint64_t step = total * kTotalSteps / std::max(range.bound, 1u);
    const std::uint32_t off =
        one.channels > range.like ? one.channels - range.like : range.like - one.channels;
    const bool all = total + range.channels_max >= range.bound;
    return std::tuple(kTotalSteps + 1 - (all ? kTotalSteps : step), off, one.channels,
                      topology::kLocalLink.mb_per_s - one.mb_per_s);
  };
  std::sort(list.begin(), list.end(),
            [&](const Division& a, const Division& b) { return key(a) < key(b); });
  return list;
}

namespace {

/// One search for more bandwidth.
class BetterSearch {
 public:
  BetterSearch(const HostTools& tools, const BetterThan& than, std::int64_t& budget,
               SearchTrace* search_trace)
      : result_(than.graph),
        wanted_(than.wanted),
        limits_(than.limits),
        table_(tools.table),
        search_(tools.search),
        direct_search_(tools.direct_search),
        packings_(tools.packings),
        facts_(tools.facts),
        options_(tools.options),
        all_(budget),
        pack_(packings_.usable() && budget > kQuickBudget),
        budget_(std::min(budget, kBudgetPattern)),
        search_trace_(search_trace) {}

  /// Searches by packing; otherwise without backtracking, then with it. Call it once.
  PatternGraph Find(DivisionRange range) {
    Widen(range);
    if (range.floor >= range.bound) return std::move(result_);
    // For trees, and for a fixed number of channels, packing is the only search.
    const bool packed_at_most =
        wanted_.pattern != Pattern::kRing || range.channels_min == range.channels_max;
    if (pack_ && (FindByPacking(range) || packed_at_most)) return std::move(result_);
    if (direct_search_.lays()) {
      if (!direct_search_.any_order()) budget_ = kBudgetDirect;
      direct_ = true;
      for (const Pricing pricing : kPricings) {
        pricing_ = pricing;
        const bool one_order = direct_search_.any_order() && !options_.multi_node;
        if (range.floor >= range.bound || (one_order && pricing != kPricings[0])) break;
        FindDirectly(range);
        Widen(range);
      }
      direct_ = false;
    }
    if (!direct_search_.any_order() && !pack_) {
      budget_ = std::min(all_, kBudgetPattern);
      FindBySearch(DivisionsOf(range, limits_, facts_.widest.mb_per_s));
      Widen(range);
    }
    if (budget_ <= 0) result_.stopped = StopReason::kBudget;
    return std::move(result_);
  }

 private:
  /// Widens the existing channels to the remaining bandwidth of their links.
  void Widen(DivisionRange& range) {
    const auto count = static_cast<std::uint32_t>(result_.channels.size());
    const bool asked = count >= range.channels_min && count <= range.channels_max;
    if (!asked || result_.stopped == StopReason::kFallback || !direct_search_.lays()) return;
    const std::uint32_t most = std::min(range.bound / count, facts_.widest.mb_per_s);
    const std::uint32_t width = direct_search_.WidthOf(result_, most);
    if (std::uint64_t{width} * count > result_.total().mb_per_s)
      result_.intra = result_.inter = {width};
    range.floor = std::max<std::uint64_t>(range.floor, result_.total().mb_per_s);
  }

  /// \return true if the total increased
  bool FindByPacking(DivisionRange& range) {
    const std::uint64_t before = range.floor;
    const bool any_number = range.channels_min < range.channels_max;
    const bool ring = wanted_.pattern == Pattern::kRing;
    const std::vector<CrossNic> crossings = CrossingsOf(range);
    for (const Effort effort : kEfforts) {
      if (effort > EffortFor(range) && packings_.few()) break;
      if (effort > Effort::kLittle && any_number && ring && IsFar(range)) packings_.Grant();
      for (const CrossNic crossing : crossings) {
        if (range.floor + (packed_ ? result_.channels.size() - 1 : 0) >= range.bound) break;
        Packing& packing = packings_.Of(wanted_.pattern, crossing, range.bound);
        if (effort > Effort::kLittle && packing.spent()) break;
        result_.steps += packing.Solve(static_cast<std::int64_t>(range.floor));
        ++result_.searches;
        DividePacking(packing, effort, range);
      }
    }
    return range.floor > before;
  }

  /// Trees rarely limit a machine, and a fixed number of channels is one of many trials.
  Effort EffortFor(const DivisionRange& range) const {
    const bool ring = wanted_.pattern == Pattern::kRing;
    if (range.channels_min == range.channels_max) return ring ? Effort::kSome : Effort::kLittle;
    return ring || IsFar(range) ? Effort::kMost : Effort::kLittle;
  }

  /// Returns true if the missing bandwidth justifies long searches.
  bool IsFar(const DivisionRange& range) const {
    const std::uint32_t part = wanted_.pattern == Pattern::kRing ? kFar : kTreesFar;
    return range.floor + range.bound / part < range.bound;
  }

  /// The ways for channels to leave, the most promising first. Ties: the simpler one is first.
  std::vector<CrossNic> CrossingsOf(const DivisionRange& range) {
    if (!options_.multi_node || options_.cross_nic == 0 || wanted_.pattern == Pattern::kTree)
      return {CrossNic::kSame};
    if (!packings_.few()) return {CrossNic::kAny};
    const auto bound = [&](CrossNic crossing) {
      Packing& packing = packings_.Of(wanted_.pattern, crossing, range.bound);
      result_.steps += packing.Solve(static_cast<std::int64_t>(range.floor));
      return std::min<std::int64_t>(packing.bound(), range.bound);
    };
    const std::int64_t any = bound(CrossNic::kAny), same = bound(CrossNic::kSame);
    if (same + same / kNear < any) return {CrossNic::kAny, CrossNic::kSame};
    return {CrossNic::kSame, CrossNic::kAny};
  }

  /// Finds the fewest channels with the maximum total. Starts with many channels, because they
  /// share links almost as fractions do.
  void DividePacking(Packing& packing, Effort effort, DivisionRange& range) {
    for (std::uint32_t count = range.channels_max; count >= range.channels_min; --count) {
      const std::uint64_t worth = WorthOf(count, range);
      const auto least = static_cast<std::int64_t>((worth + count - 1) / count);
      if (least * count > packing.bound() || !limits_.Allow(count, least)) continue;
      const std::int64_t most = std::min(range.bound / count, facts_.widest.mb_per_s);
      if (least > most) continue;
      const Packing::Divided& divided = packing.Divide(count, least, most, effort);
      // Rounding per link can consume the extra bandwidth.
      if (!TakeDivided(divided, packing, range) && divided.mb_per_s >= least)
        TakeDivided(packing.Divide(count, divided.mb_per_s + 1, most, effort), packing, range);
    }
  }

  /// The total that makes `count` channels better: a higher one, or equal with fewer channels.
  std::uint64_t WorthOf(std::uint32_t count, const DivisionRange& range) const {
    return range.floor + (packed_ && count < result_.channels.size() ? 0 : 1);
  }

  /// \return true if the channels are better
  bool TakeDivided(const Packing::Divided& divided, const Packing& packing, DivisionRange& range) {
    if (divided.channels.empty()) return false;
    const auto count = static_cast<std::uint32_t>(divided.channels.size());
    const std::int64_t each =
        std::min<std::int64_t>({divided.mb_per_s, range.bound / count, facts_.widest.mb_per_s});
    PatternGraph found = result_;
    found.channels = divided.channels;
    found.pattern = wanted_.pattern;
    found.cross_nic = static_cast<std::uint8_t>(packing.crossing());
    found.same_channels = false;
    found.intra = found.inter = {1};
    const std::uint32_t width = direct_search_.WidthOf(found, static_cast<std::uint32_t>(each));
    if (std::uint64_t{width} * count < WorthOf(count, range)) return false;
    found.intra = found.inter = {width};
    found.stopped = StopReason::kDivided;
    NameTypes(found);
    result_ = std::move(found);
    range.floor = result_.total().mb_per_s;
    packed_ = true;
    TraceDivided(packing);
    return true;
  }

  void TraceDivided(const Packing& packing) {
    if (search_trace_ == nullptr) return;
    StepOutcome outcome;
    outcome.search_step.id = wanted_.id;
    outcome.search_step.pattern = wanted_.pattern;
    outcome.search_step.intra_mb_per_s = outcome.search_step.inter_mb_per_s =
        result_.intra.mb_per_s;
    outcome.search_step.cross_nic = result_.cross_nic;
    outcome.channels = outcome.search_step.max_channels =
        static_cast<std::uint32_t>(result_.channels.size());
    outcome.improved = outcome.perfect = true;
    outcome.divided_of = {static_cast<std::uint32_t>(packing.bound())};
    search_trace_->search_steps.push_back(outcome);
  }

  void FindBySearch(const std::vector<Division>& divisions) {
    for (const Division& division : divisions) {
      if (budget_ <= 0) break;
      if (!PlaceChannels(division)) continue;
      Halve(NextWider(divisions));
      result_.stopped = StopReason::kPerfect;
      return;
    }
  }

  /// Tries every number of channels, each by bisection, because placing is quick.
  void FindDirectly(const DivisionRange& range) {
    std::vector<std::uint32_t> counts;
    for (std::uint32_t count = range.channels_min; count <= range.channels_max; ++count)
      if (count <= std::max(kDirectChannelsMax, range.like)) counts.push_back(count);
    const auto off = [&](std::uint32_t count) {
      return count > range.like ? count - range.like : range.like - count;
    };
    std::stable_sort(counts.begin(), counts.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return off(a) < off(b); });
    std::uint64_t best = range.floor;
    for (const std::uint32_t count : counts) {
      const bool first = best == range.floor && (count == range.like || direct_search_.any_order());
      const std::uint64_t worth = first ? best : best + best / kTotalSteps;
      const auto least = static_cast<std::int64_t>(worth / count) + 1;
      const std::int64_t most = std::min<std::int64_t>(
          {limits_.MostOf(count), range.bound / count, facts_.widest.mb_per_s});
      if (most < least || most < kLeastMbPerS) continue;
      const auto widest = static_cast<std::uint32_t>(most);
      if (!PlaceChannels({count, widest})) {
        if (!PlaceChannels({count, static_cast<std::uint32_t>(least)})) continue;
        Halve(widest);
      }
      best = result_.total().mb_per_s;
      result_.stopped = StopReason::kPerfect;
      if (best + count >= range.bound) break;
    }
  }

  /// \return true if the channels fit; they are then the result
  bool PlaceChannels(const Division& division) {
    for (const SearchStep& search_step : SearchStepsOf(wanted_, division, facts_, options_)) {
      if (budget_ <= 0) return false;
      if (direct_ && !Direct(search_step)) continue;
      if (Run(search_step)) return true;
    }
    return false;
  }

  /// Returns true if direct search can run this step.
  bool Direct(const SearchStep& search_step) const {
    if (search_step.same_channels) return false;
    const bool pairs = search_step.cross_nic == kCrossNicPairs &&
                       search_step.pattern == Pattern::kRing && search_step.max_channels % 2 == 0;
    return search_step.cross_nic == kCrossNicSame || pairs ||
           (search_step.cross_nic == kCrossNicAny && options_.cross_nic == kCrossNicAny);
  }

  bool Run(const SearchStep& search_step) {
    PatternGraph found;
    found.id = wanted_.id;
    StepOutcome outcome = direct_ ? direct_search_.PlaceChannels(search_step, pricing_, found)
                                  : search_.Run(search_step, std::min(budget_, kBudgetOne), found);
    const std::int64_t taken =
        static_cast<std::int64_t>(direct_ ? outcome.steps / kLooksPerStep : outcome.steps) + 1;
    budget_ -= taken;
    if (!direct_ || direct_search_.any_order()) all_ -= taken;
    found.searches = ++result_.searches;
    found.steps = result_.steps += outcome.steps;
    if (search_trace_ != nullptr) {
      if (outcome.link) {
        search_trace_->links.push_back(table_.LinkText(*outcome.link));
        outcome.link = static_cast<std::uint32_t>(search_trace_->links.size() - 1);
      }
      search_trace_->search_steps.push_back(outcome);
    }
    if (!outcome.perfect) return false;
    found.bound = result_.bound;
    if (!direct_) NameTypes(found);
    result_ = std::move(found);
    laid_ = search_step;
    return true;
  }

  /// Sets the farthest path types in use. They can be nearer than the allowed types.
  void NameTypes(PatternGraph& graph) {
    graph.type_intra = PathType::kLoc;
    graph.type_inter = options_.multi_node ? PathType::kLoc : PathType::kPix;
    const auto intra = [&](std::uint32_t a, std::uint32_t b) {
      graph.type_intra =
          std::max(graph.type_intra, table_.PathOf({End::kDevice, a}, {End::kDevice, b}).type);
    };
    const auto inter = [&](std::uint32_t device, std::uint32_t net, bool out) {
      const EndIndex a{End::kDevice, device}, b{End::kNet, net};
      graph.type_inter = std::max(graph.type_inter, table_.PathOf(out ? a : b, out ? b : a).type);
    };
    for (const LocalChannel& channel : graph.channels) {
      const std::vector<std::uint32_t>& order = channel.devices;
      for (std::size_t i = 0; i + 1 < order.size(); ++i) intra(order[i], order[i + 1]);
      const bool ring = graph.pattern == Pattern::kRing;
      if (ring && !channel.entry && order.size() > 1) intra(order.back(), order.front());
      if (channel.entry) inter(order.front(), *channel.entry, false);
      if (channel.exit) inter(ring ? order.back() : order.front(), *channel.exit, true);
      if (channel.exit && graph.pattern == Pattern::kBalancedTree && order.size() > 1)
        inter(order[1], *channel.exit, true);
    }
  }

  /// The next wider division with the same number of channels. It did not fit.
  std::uint32_t NextWider(const std::vector<Division>& divisions) const {
    std::uint32_t bad = 0;
    for (const Division& one : divisions)
      if (one.channels == laid_.max_channels && one.mb_per_s > laid_.intra_mb_per_s &&
          (bad == 0 || one.mb_per_s < bad))
        bad = one.mb_per_s;
    return bad;
  }

  /// \param bad  MB/s of a channel that did not fit; 0: unknown
  void Halve(std::uint32_t bad) {
    for (int i = 0; i < kWidenings && laid_.intra_mb_per_s + 1 < bad; ++i) {
      SearchStep search_step = laid_;
      const std::uint32_t middle = laid_.intra_mb_per_s + (bad - laid_.intra_mb_per_s) / 2;
      search_step.intra_mb_per_s = search_step.inter_mb_per_s = middle;
      if (!Run(search_step)) bad = middle;
    }
  }

  PatternGraph result_;
  const Wanted& wanted_;
  const Limits& limits_;
  const RouteTable& table_;
  ChannelSearch& search_;
  DirectSearch& direct_search_;
  Packings& packings_;
  const SystemFacts& facts_;
  const SearchOptions& options_;
  std::int64_t& all_;
  const bool pack_;  // few devices, and all limits are known
  std::int64_t budget_;
  SearchTrace* search_trace_;
  bool packed_ = false;  // true if the result is from a packing
  SearchStep laid_;
  bool direct_ = false;  // true during direct search
  Pricing pricing_ = Pricing::kScarce;
};

}  // namespace

PatternGraph FindBetter(const HostTools& tools, const BetterThan& than, std::int64_t& budget,
                        SearchTrace* search_trace) {
  const PatternGraph& graph = than.graph;
  const Wanted& wanted = than.wanted;
  if (wanted.min_channels == 0 || than.floor >= graph.bound.mb_per_s) return graph;
  const DivisionRange range{graph.bound.mb_per_s, than.floor,
                            static_cast<std::uint32_t>(graph.channels.size()), wanted.min_channels,
                            wanted.max_channels};
  return BetterSearch(tools, than, budget, search_trace).Find(range);
}

}  // namespace ringlet::plan
