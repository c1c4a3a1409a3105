#include "collective/select/choose.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::collective {

std::vector<Candidate> CandidatesFor(const Call& call, const Layout& layout, const Tuner& tuner) {
  std::vector<Candidate> candidates;
  const CostModel model = tuner.measured.Over(tuner.model);
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

std::optional<Algorithm> MeasuredFor(const Call& call, const Layout& layout, const Tuner& tuner) {
  const auto fastest =
      tuner.measured.For(call.kind, static_cast<std::uint32_t>(layout.order.size()),
                         static_cast<std::uint32_t>(layout.groups.size()), BlockBytes(call));
  if (!fastest || !tuner.choice.Allows(call.kind, *fastest)) return std::nullopt;
  const auto possible = AlgorithmsFor(call.kind, layout);
  return std::ranges::find(possible, *fastest) == possible.end() ? std::nullopt : fastest;
}

Algorithm Choose(const Call& call, const Layout& layout, const Tuner& tuner) {
  if (const auto measured = MeasuredFor(call, layout, tuner)) return *measured;
  const Candidate* best = nullptr;
  const auto candidates = CandidatesFor(call, layout, tuner);
  for (const Candidate& candidate : candidates) {
    if (!candidate.allowed) continue;
    if (best == nullptr || candidate.time_ns < best->time_ns) best = &candidate;
  }
  RINGLET_ASSERT(best != nullptr);
  return best->algorithm;
}

}  // namespace ringlet::collective
