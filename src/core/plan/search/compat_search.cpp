#include "plan/search/compat_search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "plan/channels/capability.hpp"
#include "topology/paths/trim.hpp"

namespace ringlet::plan {
namespace {

using topology::NodeIndex;
using topology::NodeKind;
using topology::Path;
using topology::PathType;

// NCCL's limits of steps.
constexpr std::int64_t kBudgetSame = 256;
constexpr std::int64_t kBudgetOwn = 16'384;
constexpr std::int64_t kBudgetAll = 524'288;

// Channels below this bandwidth are not split.
constexpr std::uint32_t kSplitMbPerS = 25'000;
constexpr std::uint32_t kSplitHopperMbPerS = 50'000;
constexpr std::size_t kSplitHopperChannels = 4;

constexpr std::uint32_t kFallbackMbPerS = 100;

// After so many steps, computing a host's limits is worthwhile.
constexpr std::uint64_t kLongSearch = 4'096;

constexpr auto kIntra =
    std::to_array<std::uint32_t>({40'000, 30'000, 20'000, 18'000, 15'000, 12'000, 10'000, 9'000,
                                  7'000, 6'000, 5'000, 4'000, 3'000});
constexpr auto kInter = std::to_array<std::uint32_t>(
    {48'000, 30'000, 28'000, 24'000, 20'000, 18'000, 15'000, 12'000, 10'000, 9'000, 7'000, 6'000,
     5'000, 4'000, 3'000, 2'400, 1'200, 240, 120});
constexpr auto kIntraHopper = std::to_array<std::uint32_t>(
    {60'000, 50'000, 40'000, 30'000, 24'000, 20'000, 15'000, 12'000, 11'000, 6'000, 3'000});
constexpr auto kInterHopper =
    std::to_array<std::uint32_t>({48'000, 45'000, 42'000, 40'000, 30'000, 24'000, 22'000, 20'000,
                                  17'500, 15'000, 12'000, 6'000, 3'000, 2'400, 1'200, 240, 120});
constexpr auto kIntraBlackwell =
    std::to_array<std::uint32_t>({90'000, 80'000, 70'000, 60'000, 50'000, 45'000, 40'000, 30'000,
                                  24'000, 20'000, 19'000, 18'000});
constexpr auto kInterBlackwell = std::to_array<std::uint32_t>(
    {96'000, 86'000, 80'000, 48'000, 45'100, 42'000, 40'000, 30'000, 24'000, 22'000,
     20'000, 17'500, 15'000, 12'000, 6'000,  3'000,  2'400,  1'200,  240,    120});

std::uint32_t Bit(PathType type) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(type);
}

PathType Next(PathType type) {
  return static_cast<PathType>(static_cast<std::uint8_t>(type) + 1);
}

std::int64_t BudgetOf(const SearchStep& search_step) {
  return search_step.same_channels ? kBudgetSame : kBudgetOwn;
}

/// The farthest type, up to `type`, that some path has.
PathType Effective(PathType type, std::uint32_t types) {
  while (type > PathType::kLoc && (types & Bit(type)) == 0)
    type = static_cast<PathType>(static_cast<std::uint8_t>(type) - 1);
  return type;
}

/// Returns true if NVLink forms exactly two groups of several devices.
bool TwoIslands(const RouteTable& table) {
  const std::uint32_t devices = table.device_count();
  std::vector<std::uint32_t> island(devices), size(devices, 0);
  for (std::uint32_t a = 0; a < devices; ++a) island[a] = a;
  for (std::uint32_t a = 0; a < devices; ++a)
    for (std::uint32_t b = a + 1; b < devices; ++b)
      if (table.PathOf({End::kDevice, a}, {End::kDevice, b}).type == PathType::kNvl)
        island[b] = island[a];
  for (const std::uint32_t one : island) ++size[one];
  return std::count_if(size.begin(), size.end(), [](std::uint32_t n) { return n > 1; }) == 2;
}

/// The limits of ranks without a GPU.
void AddCpuMemory(const RouteTable& table, bool multi_node, SystemFacts& facts) {
  const std::uint32_t ends = multi_node ? table.net_count() : table.device_count();
  for (std::uint32_t a = 0; a < table.device_count(); ++a)
    for (std::uint32_t b = 0; b < ends; ++b)
      if (multi_node || a != b)
        facts.widest = std::max(
            facts.widest,
            table.PathOf({End::kDevice, a}, {multi_node ? End::kNet : End::kDevice, b}).bandwidth);
  for (const NodeIndex device : table.devices())
    for (const topology::Link& link : table.paths().graph().at(device).links)
      facts.total = std::max(facts.total, link.bandwidth);
}

struct TypeRange {
  PathType min = PathType::kDis, max = PathType::kLoc;
  std::uint32_t bits = 0;
  void Add(PathType type) {
    min = std::min(min, type);
    max = std::max(max, type);
    bits |= Bit(type);
  }
};

}  // namespace

SystemFacts FactsOf(const RouteTable& table, bool multi_node) {
  const topology::Paths& paths = table.paths();
  const topology::Graph& graph = paths.graph();
  SystemFacts facts;
  const topology::SystemLimits limits = topology::LimitsOf(paths, multi_node);
  facts.widest = limits.widest;
  facts.total = limits.total;
  if (paths.Of(NodeKind::kGpu).empty()) AddCpuMemory(table, multi_node, facts);
  facts.device_count = static_cast<std::uint32_t>(paths.Of(NodeKind::kDev).size());
  facts.compute_capability = std::numeric_limits<std::uint32_t>::max();
  for (const NodeIndex device : paths.Of(NodeKind::kDev))
    facts.compute_capability =
        std::min(facts.compute_capability, graph.device(device).compute_capability);
  if (!paths.Of(NodeKind::kCpu).empty()) {
    const topology::CpuModel& cpu = graph.cpu(paths.Of(NodeKind::kCpu).front());
    facts.amd = cpu.arch == "x86_64" && cpu.vendor == "AuthenticAMD";
  }
  facts.two_islands = TwoIslands(table);
  TypeRange intra, out, any;
  for (std::uint32_t a = 0; a < table.device_count(); ++a) {
    for (std::uint32_t b = 0; b < table.device_count(); ++b)
      if (a != b) intra.Add(table.PathOf({End::kDevice, a}, {End::kDevice, b}).type);
    for (std::uint32_t net = 0; net < table.net_count(); ++net) {
      out.Add(table.PathOf({End::kDevice, a}, {End::kNet, net}).type);
      any.Add(table.PathOf({End::kNet, net}, {End::kDevice, a}).type);
    }
  }
  facts.types_intra = intra.bits;
  facts.types_inter = out.bits | any.bits;
  if (table.device_count() > 1) {
    facts.min_intra = std::min(intra.min, PathType::kSys);
    facts.max_intra = intra.max;
  }
  if (multi_node && table.net_count() > 0) {
    facts.min_inter = std::min(out.min, PathType::kSys);
    facts.max_inter = out.max;
  }
  if (multi_node) facts.max_intra = facts.max_inter;
  if (facts.compute_capability < kHopper) facts.max_inter = PathType::kSys;
  return facts;
}

std::span<const std::uint32_t> SpeedsOf(std::uint32_t compute_capability, bool multi_node) {
  if (compute_capability >= kBlackwell && multi_node) return kInterBlackwell;
  if (compute_capability >= kBlackwell) return kIntraBlackwell;
  if (compute_capability >= kHopper && multi_node) return kInterHopper;
  if (compute_capability >= kHopper) return kIntraHopper;
  if (multi_node) return kInter;
  return kIntra;
}

PatternGraph CompatSearch::Find(const Wanted& wanted, SearchTrace* search_trace) {
  search_trace_ = search_trace;
  wanted_ = wanted;
  best_ = {};
  best_.id = wanted.id;
  best_.pattern = wanted.pattern;
  tried_.clear();
  again_.reset();
  any_budget_out_ = false;
  left_known_ = true;
  awaited_.clear();
  awaited_budget_ = 0;
  const bool nvls = wanted.pattern == Pattern::kNvls;
  if (nvls && (table_.switches().empty() || facts_.compute_capability < kHopper))
    return std::move(best_);
  Prepare(wanted);
  FirstPass();
  SecondPass();
  best_.stopped = WhyStopped();
  const bool optional =
      nvls || wanted.id == GraphId::kCollnetChain || wanted.id == GraphId::kCollnetDirect;
  if (best_.channels.empty() && !optional) UseFallback();
  return std::move(best_);
}

void CompatSearch::Prepare(const Wanted& wanted) {
  second_pass_ = false;
  search_step_ = {};
  search_step_.id = wanted.id;
  search_step_.pattern = wanted.pattern;
  search_step_.min_channels = wanted.min_channels;
  search_step_.max_channels = wanted.max_channels;
  const bool one_device = table_.device_count() == 1;
  if (one_device && wanted.pattern != Pattern::kRing) search_step_.pattern = Pattern::kTree;
  best_.pattern = search_step_.pattern;
  const bool crosses = wanted.pattern == Pattern::kRing ||
                       wanted.pattern == Pattern::kBalancedTree ||
                       wanted.pattern == Pattern::kSplitTree;
  cross_nic_ =
      table_.net_count() > 1 && crosses ? static_cast<std::uint8_t>(options_.cross_nic) : 0;
  search_step_.cross_nic = cross_nic_ == 1 ? 1 : 0;
  try_same_ = wanted.pattern != Pattern::kNvls;
  search_step_.same_channels = try_same_;
  search_step_.type_intra = facts_.min_intra;
  search_step_.type_inter = facts_.min_inter;
  if (wanted.pattern == Pattern::kRing && search_step_.min_channels == 1 &&
      search_step_.max_channels > 1 && facts_.two_islands)
    search_step_.min_channels = 2;
  speeds_ = SpeedsOf(facts_.compute_capability, options_.multi_node);
  std::uint64_t total = facts_.total.mb_per_s;
  std::uint64_t parts = 1;
  if (wanted.pattern != Pattern::kRing && facts_.device_count > 1) {
    total *= facts_.device_count;
    parts = facts_.device_count - 1;
  }
  first_speed_ = 0;
  while (first_speed_ + 1 < speeds_.size() &&
         (speeds_[first_speed_] > facts_.widest.mb_per_s ||
          std::uint64_t{speeds_[first_speed_]} * search_step_.min_channels * parts > total))
    ++first_speed_;
  speed_ = first_speed_;
  search_step_.intra_mb_per_s = search_step_.inter_mb_per_s = speeds_[speed_];
  budget_ = kBudgetAll;
}

/// The part of a search step that affects its outcome.
SearchStep CompatSearch::RelevantPart(const SearchStep& search_step) const {
  SearchStep essence = search_step;
  essence.type_intra = Effective(search_step.type_intra, facts_.types_intra);
  essence.type_inter =
      options_.multi_node ? Effective(search_step.type_inter, facts_.types_inter) : PathType::kLoc;
  if (!options_.multi_node) essence.cross_nic = 0;
  return essence;
}

/// Returns true if the limits prove that the search step finds no better result. Not used where
/// several NICs share a port: the limits count ports exactly, and NCCL does not.
bool CompatSearch::IsHopeless() {
  const bool exact = !options_.multi_node || nets_.port_count() == table_.net_count();
  if (second_pass_ || !exact || search_step_.pattern == Pattern::kNvls ||
      search_step_.pattern == Pattern::kCollnetDirect || best_.steps < kLongSearch)
    return false;
  const std::uint64_t speed = search_step_.intra_mb_per_s;
  const std::uint64_t total = best_.channels.size() * std::uint64_t{best_.intra.mb_per_s};
  const std::uint64_t least =
      std::max<std::uint64_t>(search_step_.min_channels, (total + speed - 1) / speed);
  return least > search_step_.max_channels ||
         !limits_(wanted_.id).Allow(static_cast<std::uint32_t>(least), search_step_.intra_mb_per_s);
}

/// Runs the skipped search steps, to compute their remaining budgets.
void CompatSearch::Await() {
  for (const SearchStep& search_step : awaited_) {
    PatternGraph none = best_;
    best_.steps += search_.Run(search_step, BudgetOf(search_step), none).steps;
    budget_ += search_.left();
  }
  awaited_.clear();
  awaited_budget_ = 0;
}

/// If the step begins only one channel, same_channels does not matter. The next search step then
/// has the same outcome and does not run.
StepOutcome CompatSearch::RunSearchStep(std::int64_t budget) {
  const std::optional<KnownStep> again = std::exchange(again_, std::nullopt);
  if (again && again->outcome.search_step == search_step_) {
    left_ = budget - again->taken;
    return again->outcome;
  }
  const StepOutcome outcome = search_.Run(search_step_, budget, best_);
  left_ = search_.left();
  if (!search_step_.same_channels || search_.began_second() || left_ <= 0) return outcome;
  again_ = {outcome, budget - left_};
  again_->outcome.search_step.same_channels = again_->outcome.improved = false;
  return outcome;
}

/// Runs one search step, unless its outcome is known.
/// \return true if the search can stop
bool CompatSearch::Run() {
  ++best_.searches;
  const std::int64_t budget = BudgetOf(search_step_);
  budget_ -= budget;
  left_known_ = true;
  const SearchStep essence = RelevantPart(search_step_);
  const auto known = std::find_if(tried_.begin(), tried_.end(),
                                  [&](const auto& one) { return one.first == essence; });
  // Excludes NVLS: two of its graphs can each be better than the other, so that repeats matter.
  if (known != tried_.end() && search_step_.pattern != Pattern::kNvls) {
    left_ = known->second;
    if (search_trace_ != nullptr) {
      search_trace_->search_steps.push_back({search_step_});
      search_trace_->search_steps.back().repeated = true;
    }
    return Content();
  }
  if (IsHopeless()) {
    left_ = 0;
    left_known_ = false;
    if (search_trace_ != nullptr) {
      search_trace_->search_steps.push_back({search_step_});
      search_trace_->search_steps.back().hopeless = true;
    }
    return Content();
  }
  const std::uint32_t searches = best_.searches;
  const std::uint64_t steps = best_.steps;
  StepOutcome outcome = RunSearchStep(budget);
  best_.searches = searches;
  best_.steps = steps + outcome.steps;
  any_budget_out_ = any_budget_out_ || outcome.budget_out;
  tried_.emplace_back(essence, left_);
  if (search_trace_ != nullptr) {
    if (outcome.link) {
      search_trace_->links.push_back(table_.LinkText(*outcome.link));
      outcome.link = static_cast<std::uint32_t>(search_trace_->links.size() - 1);
    }
    search_trace_->search_steps.push_back(outcome);
  }
  return Content();
}

bool CompatSearch::Content() const {
  if (left_ == -1) return true;
  return best_.channels.size() * std::uint64_t{best_.inter.mb_per_s} >= facts_.total.mb_per_s;
}

StopReason CompatSearch::WhyStopped() const {
  if (best_.channels.empty()) return StopReason::kNotThere;
  if (best_.channels.size() * std::uint64_t{best_.inter.mb_per_s} >= facts_.total.mb_per_s)
    return StopReason::kSaturated;
  return any_budget_out_ ? StopReason::kBudget : StopReason::kExhausted;
}

void CompatSearch::FirstPass() {
  while (!Run() && NextSearchStep()) {
  }
}

/// Returns the unused steps of the latest search step to budget_, if their number is known.
void CompatSearch::ReturnUnusedBudget() {
  if (left_known_) {
    budget_ += left_;
  } else {
    awaited_.push_back(search_step_);
    awaited_budget_ += BudgetOf(search_step_);
  }
  if (budget_ < 0 && budget_ + awaited_budget_ >= 0) Await();
}

bool CompatSearch::NextSearchStep() {
  if (search_step_.same_channels && !(facts_.amd && search_step_.type_intra == PathType::kSys)) {
    search_step_.same_channels = false;
    return true;
  }
  ReturnUnusedBudget();
  search_step_.same_channels = try_same_;
  if (budget_ < 0 && !best_.channels.empty()) return false;
  if (facts_.compute_capability >= kHopper && search_step_.pattern == Pattern::kBalancedTree) {
    search_step_.pattern = Pattern::kTree;
    return true;
  }
  search_step_.pattern = best_.pattern;
  return NextTypes() || NextSpeed();
}

bool CompatSearch::NextTypes() {
  const bool none = best_.channels.empty();
  const PathType farthest = options_.multi_node ? search_step_.type_inter : facts_.max_intra;
  if (search_step_.type_intra < farthest && (none || search_step_.type_intra < best_.type_intra)) {
    search_step_.type_intra = Next(search_step_.type_intra);
    if (search_step_.type_intra < PathType::kDis) return true;
  }
  search_step_.type_intra = facts_.min_intra;
  if (options_.multi_node && search_step_.type_inter < facts_.max_inter &&
      (none || search_step_.type_inter < best_.type_inter ||
       search_step_.type_inter < PathType::kPxn)) {
    search_step_.type_inter = Next(search_step_.type_inter);
    if (search_step_.type_inter < PathType::kDis) return true;
  }
  search_step_.type_inter = facts_.min_inter;
  if (cross_nic_ == 2 && search_step_.cross_nic == 0 &&
      (best_.pattern == Pattern::kRing || best_.pattern == Pattern::kBalancedTree)) {
    search_step_.cross_nic = 2;
    return true;
  }
  search_step_.cross_nic = cross_nic_ == 1 ? 1 : 0;
  return false;
}

bool CompatSearch::NextSpeed() {
  if (speed_ + 1 >= speeds_.size()) return false;
  const std::uint64_t next = speeds_[speed_ + 1];
  if (!best_.channels.empty() && next * 100 <= std::uint64_t{best_.inter.mb_per_s} * 49)
    return false;
  ++speed_;
  search_step_.intra_mb_per_s = search_step_.inter_mb_per_s = speeds_[speed_];
  return true;
}

/// Splits channels that carry more than a thread block moves into more and narrower ones.
void CompatSearch::Duplicate() {
  const std::size_t count = best_.channels.size();
  if (count == 0 || best_.pattern == Pattern::kNvls || best_.intra.mb_per_s < kSplitMbPerS) return;
  if (facts_.compute_capability > kAmpere && best_.intra.mb_per_s < kSplitHopperMbPerS &&
      count > kSplitHopperChannels)
    return;
  const std::size_t more = std::min<std::size_t>(2 * count, wanted_.max_channels);
  for (std::size_t i = count; i < more; ++i) {
    LocalChannel copy = best_.channels[i - count];
    best_.channels.push_back(std::move(copy));
  }
  const auto parts = static_cast<std::uint32_t>((more + count - 1) / count);
  best_.intra.mb_per_s /= parts;
  best_.inter.mb_per_s /= parts;
}

void CompatSearch::SecondPass() {
  second_pass_ = true;
  again_.reset();
  left_ = -1;
  Duplicate();
  search_step_.pattern = best_.pattern;
  search_step_.type_intra = best_.type_intra;
  search_step_.type_inter = best_.type_inter;
  search_step_.same_channels = best_.same_channels;
  search_step_.cross_nic = best_.cross_nic;
  search_step_.min_channels = static_cast<std::uint32_t>(best_.channels.size());
  search_step_.max_channels = wanted_.max_channels;
  speed_ = 0;
  while (speed_ + 1 < speeds_.size() && speeds_[speed_] > best_.inter.mb_per_s) ++speed_;
  search_step_.intra_mb_per_s = search_step_.inter_mb_per_s = speeds_[speed_];
  while (TryHigherSpeed()) Run();
}

bool CompatSearch::TryHigherSpeed() {
  if (left_ == 0 || speed_ == 0) return false;
  if (best_.pattern == Pattern::kRing) {
    search_step_.intra_mb_per_s = search_step_.inter_mb_per_s = speeds_[--speed_];
    return true;
  }
  if (best_.pattern == Pattern::kNvls && search_step_.inter_mb_per_s == best_.inter.mb_per_s &&
      search_step_.inter_mb_per_s < 2 * search_step_.intra_mb_per_s) {
    search_step_.min_channels = search_step_.max_channels =
        static_cast<std::uint32_t>(best_.channels.size());
    search_step_.inter_mb_per_s = speeds_[--speed_];
    return true;
  }
  if (search_step_.intra_mb_per_s == best_.intra.mb_per_s &&
      search_step_.intra_mb_per_s < 2 * search_step_.inter_mb_per_s) {
    search_step_.intra_mb_per_s = speeds_[--speed_];
    return true;
  }
  return false;
}

/// Falls back to one channel in the order of numbers.
void CompatSearch::UseFallback() {
  LocalChannel channel;
  for (std::uint32_t device = 0; device < table_.device_count(); ++device)
    channel.devices.push_back(device);
  best_.intra = {kFallbackMbPerS};
  best_.type_intra = PathType::kSys;
  best_.type_inter = PathType::kDis;
  const std::optional<std::uint32_t> entry = nets_.PreferredBy(0);
  if (options_.multi_node && entry) {
    channel.entry = entry;
    channel.exit = nets_.PreferredBy(table_.device_count() - 1);
    best_.inter = {kFallbackMbPerS};
    best_.type_inter = PathType::kSys;
  }
  best_.channels.push_back(std::move(channel));
  best_.stopped = StopReason::kFallback;
}

}  // namespace ringlet::plan
