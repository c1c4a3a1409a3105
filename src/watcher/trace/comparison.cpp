#include "watcher/trace/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ringlet::watch {
namespace {

/// The collectives of a rank, by sequence.
using Collectives = std::map<std::uint64_t, const RecordedOperation*>;

Collectives CollectivesOf(const RankTrace& trace) {
  Collectives collectives;
  for (const RecordedOperation& operation : trace.operations)
    if (!IsMessage(operation)) collectives.emplace(operation.sequence, &operation);
  return collectives;
}

/// Returns the first collective of the complete part of the trace.
std::uint64_t CompleteFrom(const RankTrace& trace) {
  if (trace.operations.empty()) return 0;
  const RecordedOperation& first = trace.operations.front();
  if (first.number == 0) return 0;
  return first.sequence + (IsMessage(first) ? 1 : 0);
}

/// The comparable collectives of a rank.
struct ComparedRank {
  std::uint32_t rank = 0;
  Collectives collectives;
  std::uint64_t from = 0;
  /// The operation that the rank is still in. It cannot have called later ones.
  std::optional<std::uint64_t> until = {};

  bool MayContain(std::uint64_t sequence) const { return !until || sequence < *until; }
  /// Null if the rank did not call it.
  const RecordedOperation* At(std::uint64_t sequence) const {
    const auto it = collectives.find(sequence);
    return it == collectives.end() ? nullptr : it->second;
  }
};

ComparedRank ComparedRankOf(const RankTrace& trace) {
  ComparedRank compared{
      .rank = trace.rank, .collectives = CollectivesOf(trace), .from = CompleteFrom(trace)};
  if (trace.begun > trace.done && !trace.operations.empty())
    compared.until =
        trace.operations.back().sequence + (IsMessage(trace.operations.back()) ? 0 : 1);
  return compared;
}

bool AreAlike(const RecordedOperation* a, const RecordedOperation* b) {
  return (a == nullptr) == (b == nullptr) && (a == nullptr || AreSameCall(*a, *b));
}

Divergence DivergenceAt(std::uint64_t sequence, const std::vector<ComparedRank>& ranks) {
  Divergence divergence{.sequence = sequence, .groups = {}};
  std::vector<const RecordedOperation*> calls;  // of the groups
  for (const ComparedRank& rank : ranks) {
    if (!rank.MayContain(sequence)) continue;
    const RecordedOperation* const call = rank.At(sequence);
    std::size_t group = 0;
    while (group < calls.size() && !AreAlike(calls[group], call)) ++group;
    if (group == calls.size()) {
      calls.push_back(call);
      divergence.groups.push_back(
          {call == nullptr ? std::nullopt : std::optional(*call), std::vector<std::uint32_t>()});
    }
    divergence.groups[group].ranks.push_back(rank.rank);
  }
  return divergence;
}

/// Number of different calls among the ranks.
std::size_t CallsOf(const Divergence& divergence) {
  return static_cast<std::size_t>(std::ranges::count_if(
      divergence.groups, [](const auto& group) { return group.call.has_value(); }));
}

}  // namespace

std::optional<Divergence> FirstDivergence(const std::vector<RankTrace>& traces) {
  std::vector<ComparedRank> ranks;
  std::uint64_t from = 0, until = 0;
  for (const RankTrace& trace : traces) {
    ranks.push_back(ComparedRankOf(trace));
    from = std::max(from, ranks.back().from);
    const Collectives& collectives = ranks.back().collectives;
    if (!collectives.empty()) until = std::max(until, collectives.rbegin()->first + 1);
  }
  std::optional<Divergence> missing;
  for (std::uint64_t sequence = from; sequence < until; ++sequence) {
    Divergence divergence = DivergenceAt(sequence, ranks);
    if (CallsOf(divergence) > 1) return divergence;
    // A gap on all ranks is a damaged trace. Stop, because the gap may have 2^64 entries.
    if (CallsOf(divergence) == 0) break;
    if (divergence.groups.size() > 1 && !missing) missing = std::move(divergence);
  }
  return missing;
}

std::string ToText(const Divergence& divergence) {
  std::string text;
  for (const Divergence::DivergedRanks& group : divergence.groups) {
    text += text.empty() ? fmt::format("operation {}: ", divergence.sequence) : ", ";
    text += RanksNamed(group.ranks);
    if (!group.call) {
      text += " never called it";
      continue;
    }
    const std::string place = fmt::format(" as operation {}", divergence.sequence);
    std::string call = ToText(*group.call);
    if (call.ends_with(place)) call.resize(call.size() - place.size());
    text += " called " + call;
  }
  return text;
}

namespace {

struct TimedBegin {
  std::size_t trace = 0;
  Instant when{0};
};

// Bound per operation, so that the sum over a whole trace does not overflow.
constexpr Instant kLateMax = std::chrono::hours(19);

/// The first and the last begin of one collective.
struct Spread {
  std::optional<TimedBegin> first, last;
  Instant ended{0};
  const RecordedOperation* call = nullptr;  // of the last
  std::uint32_t measured = 0;
};

}  // namespace

Lateness LatenessOf(const std::vector<RankTrace>& traces, const std::vector<ClockShift>& shifts) {
  std::map<std::uint64_t, Spread> spreads;
  for (std::size_t i = 0; i < traces.size(); ++i)
    for (const RecordedOperation& operation : traces[i].operations) {
      if (IsMessage(operation) || operation.began == Instant(0)) continue;
      Spread& spread = spreads[operation.sequence];
      const TimedBegin beginning{i, operation.began + shifts[i].shift};
      ++spread.measured;
      if (!spread.first || beginning.when < spread.first->when) spread.first = beginning;
      if (operation.ended > Instant(0))
        spread.ended = std::max(spread.ended, operation.ended + shifts[i].shift);
      if (spread.last && beginning.when <= spread.last->when) continue;
      spread.last = beginning;
      spread.call = &operation;
    }
  Lateness lateness;
  std::map<std::uint32_t, RankLateness> ranks;
  for (const auto& [sequence, spread] : spreads) {
    if (spread.measured < 2) continue;
    ++lateness.compared;
    const std::uint32_t rank = traces[spread.last->trace].rank;
    const Instant late = std::min(spread.last->when - spread.first->when, kLateMax);
    lateness.operations.push_back(
        {.call = *spread.call,
         .rank = rank,
         .late = late,
         .took = std::max(spread.ended - spread.first->when, Instant(0))});
    RankLateness& its = ranks[rank];
    its.rank = rank;
    ++its.times_last;
    its.late += late;
  }
  std::ranges::stable_sort(lateness.operations, std::greater{}, &LateOperation::late);
  if (lateness.operations.size() > kLateOperationsMax)
    lateness.operations.resize(kLateOperationsMax);
  for (const auto& [rank, its] : ranks) lateness.ranks.push_back(its);
  std::ranges::stable_sort(lateness.ranks, std::greater{}, &RankLateness::late);
  return lateness;
}

}  // namespace ringlet::watch
