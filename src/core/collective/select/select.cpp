#include "collective/select/select.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

bool Has(const std::vector<Algorithm>& algorithms, Algorithm wanted) {
  return std::ranges::find(algorithms, wanted) != algorithms.end();
}

std::uint32_t RanksOf(const Layout& layout) {
  return static_cast<std::uint32_t>(layout.order.size());
}

// ---- through shared memory ----------------------------------------------------------------------

/// Returns the number of blocks that a rank gives at once.
std::size_t BlocksGiven(CallKind kind, const Layout& layout) {
  return PieceEach(kind) ? RanksOf(layout) : 1;
}

bool FitsOneShot(CallKind kind, std::size_t bytes, const Layout& layout) {
  return bytes <= layout.post_bytes / BlocksGiven(kind, layout);
}

/// Chooses by thresholds.
Algorithm PreferredOnHost(CallKind kind, std::size_t bytes, const Layout& layout,
                          const ShmThresholds& shm) {
  const std::size_t blocks = BlocksGiven(kind, layout);
  const auto possible = AlgorithmsFor(kind, layout);
  if (possible.size() == 1) return possible.front();
  if (bytes <= shm.OneShotMax(RanksOf(layout)) / blocks && FitsOneShot(kind, bytes, layout))
    return Algorithm::kOneShot;
  // The threshold applies to all blocks of a rank together, so the bound per block is rounded up.
  const bool large = bytes >= (shm.AdaptiveMin(kind) + blocks - 1) / blocks;
  return large ? Algorithm::kAdaptive : Algorithm::kSlices;
}

Algorithm SelectOnHost(CallKind kind, std::size_t bytes, const Layout& layout, const Tuner& tuner) {
  const Algorithm preferred = PreferredOnHost(kind, bytes, layout, tuner.shm);
  if (bytes == 0 || tuner.choice.Allows(kind, preferred)) return preferred;
  for (const Algorithm algorithm : AlgorithmsFor(kind, layout)) {
    const bool can = algorithm != Algorithm::kOneShot || FitsOneShot(kind, bytes, layout);
    if (can && tuner.choice.Allows(kind, algorithm)) return algorithm;
  }
  return preferred;
}

/// Returns, in ascending order, the last sizes before another algorithm may be chosen.
std::vector<std::size_t> BoundsOf(CallKind kind, const Layout& layout, const Tuner& tuner) {
  const std::size_t blocks = BlocksGiven(kind, layout);
  std::vector<std::size_t> bounds = tuner.measured.BoundsOf(kind, RanksOf(layout));
  bounds.insert(bounds.end(),
                {0, tuner.shm.OneShotMax(RanksOf(layout)) / blocks, layout.post_bytes / blocks,
                 (std::max<std::size_t>(tuner.shm.AdaptiveMin(kind), 1) - 1) / blocks, kAnyBytes});
  std::ranges::sort(bounds);
  const auto twice = std::ranges::unique(bounds);
  bounds.erase(twice.begin(), twice.end());
  return bounds;
}

std::vector<Score> ScoresFor(CallKind kind, const Layout& layout, const Tuner& tuner) {
  std::vector<Score> scores;
  for (const std::size_t bytes : BoundsOf(kind, layout, tuner)) {
    const Call call{.kind = kind, .count = bytes, .type = DataType::kUint8};
    const Score score{.bytes_max = bytes,
                      .algorithm = Select(call, layout, tuner),
                      .measured = MeasuredFor(call, layout, tuner).has_value()};
    const bool goes_on = !scores.empty() && scores.back().algorithm == score.algorithm &&
                         scores.back().measured == score.measured;
    if (goes_on) scores.pop_back();
    scores.push_back(score);
  }
  return scores;
}

}  // namespace

// ---- over links ---------------------------------------------------------------------------------

std::vector<Candidate> CandidatesFor(const Call& call, const Layout& layout, const Tuner& tuner) {
  std::vector<Candidate> candidates;
  const CostModel model = tuner.measured.WithMeasuredLinks(tuner.model);
  for (const Algorithm algorithm : AlgorithmsFor(call.kind, layout)) {
    candidates.push_back({.algorithm = algorithm,
                          .time_ns = TimeNs(algorithm, call, layout, model),
                          .allowed = tuner.choice.Allows(call.kind, algorithm)});
  }
  const auto allowed = [](const Candidate& candidate) { return candidate.allowed; };
  if (std::none_of(candidates.begin(), candidates.end(), allowed))
    for (Candidate& candidate : candidates) candidate.allowed = true;
  return candidates;
}

std::vector<CallKind> KindsWithIgnoredChoice(const Layout& layout, const AlgorithmChoice& choice) {
  std::vector<CallKind> ignored;
  for (std::size_t i = 0; i < kCallKinds; ++i) {
    const auto kind = static_cast<CallKind>(i);
    const std::vector<Algorithm> possible = AlgorithmsFor(kind, layout);
    const auto allowed = [&](Algorithm algorithm) { return choice.Allows(kind, algorithm); };
    if (!possible.empty() && std::ranges::none_of(possible, allowed)) ignored.push_back(kind);
  }
  return ignored;
}

std::optional<Algorithm> MeasuredFor(const Call& call, const Layout& layout, const Tuner& tuner) {
  const auto hosts = static_cast<std::uint32_t>(layout.groups.size());
  const std::size_t bytes = BlockBytes(call);
  const auto fastest =
      tuner.measured.For(call.kind, RanksOf(layout), hosts, bytes, SharesMemory(layout));
  if (!fastest || !tuner.choice.Allows(call.kind, *fastest)) return std::nullopt;
  if (*fastest == Algorithm::kOneShot && !FitsOneShot(call.kind, bytes, layout))
    return std::nullopt;
  return Has(AlgorithmsFor(call.kind, layout), *fastest) ? fastest : std::nullopt;
}

Algorithm Select(const Call& call, const Layout& layout, const Tuner& tuner) {
  if (const auto measured = MeasuredFor(call, layout, tuner)) return *measured;
  if (SharesMemory(layout)) return SelectOnHost(call.kind, BlockBytes(call), layout, tuner);
  const Candidate* best = nullptr;
  const auto candidates = CandidatesFor(call, layout, tuner);
  for (const Candidate& candidate : candidates) {
    if (!candidate.allowed) continue;
    if (best == nullptr || candidate.time_ns < best->time_ns) best = &candidate;
  }
  RINGLET_ASSERT(best != nullptr);
  return best->algorithm;
}

ScoreTable::ScoreTable(const Layout& layout, const Tuner& tuner) {
  for (std::size_t kind = 0; kind < kCallKinds; ++kind)
    scores_[kind] = AlgorithmsFor(CallKind(kind), layout).empty()
                        ? std::vector<Score>(1)
                        : ScoresFor(CallKind(kind), layout, tuner);
}

}  // namespace ringlet::collective
