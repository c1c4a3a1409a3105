#include "comm/peers/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/value/text.hpp"

namespace ringlet::comm {
namespace {

using collective::Algorithm;
using collective::AlgorithmSet;

AlgorithmSet SetOf(std::initializer_list<Algorithm> algorithms) {
  AlgorithmSet set;
  for (const Algorithm algorithm : algorithms) set.set(static_cast<std::size_t>(algorithm));
  return set;
}

/// Returns the algorithms of NCCL's lower-case names. Empty if only a GPU or a switch can run them.
/// \param excludes  keeps the algorithms through shared memory, which are neither ring nor tree
std::optional<AlgorithmSet> NamedByNccl(std::string_view name, bool excludes) {
  const AlgorithmSet shared =
      excludes ? AlgorithmSet()
               : SetOf({Algorithm::kOneShot, Algorithm::kSlices, Algorithm::kZeroCopy,
                        Algorithm::kFetch, Algorithm::kAdaptive});
  if (name == "ring") return shared | OverLinksLike(plan::NcclAlgorithm::kRing);
  if (name == "tree") return shared | OverLinksLike(plan::NcclAlgorithm::kTree);
  constexpr std::array kOfGpus = {"collnetdirect", "collnetchain", "collnet", "nvls",
                                  "nvlstree",      "pat",          "symk",    "ce"};
  if (std::ranges::find(kOfGpus, name) != kOfGpus.end()) return AlgorithmSet();
  return std::nullopt;
}

std::string AllNames() {
  std::string names = "ring, tree";
  for (std::size_t i = 0; i < collective::kAlgorithms; ++i)
    if (const auto name = Name(Algorithm(i)); name != "ring") names += fmt::format(", {}", name);
  return names;
}

Result<AlgorithmSet> SetNamed(std::string_view word, bool excludes) {
  std::string name(word);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (const auto set = NamedByNccl(name, excludes)) return *set;
  if (const auto algorithm = collective::AlgorithmNamed(name)) return SetOf({*algorithm});
  return Error{Code::kInvalidArgument,
               fmt::format("algSelection has \"{}\"; it must be one of {}, or a name of NCCL's",
                           Printable(word, 40), AllNames())};
}

}  // namespace

Result<AlgorithmSet> ReadSelection(std::string_view list) {
  const bool all_but = list.starts_with('^');
  if (all_but) list.remove_prefix(1);
  if (list.empty()) return AlgorithmSet().set();
  AlgorithmSet named;
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    RINGLET_TRY_ASSIGN(const AlgorithmSet set, SetNamed(list.substr(0, comma), all_but));
    named |= set;
    if (comma == list.size()) break;
    list.remove_prefix(comma + 1);
  }
  return all_but ? ~named : named;
}

AlgorithmSet OverLinksLike(plan::NcclAlgorithm algorithm) {
  collective::NcclShape shape = collective::NcclShape::kNone;
  if (algorithm == plan::NcclAlgorithm::kRing) shape = collective::NcclShape::kRing;
  if (algorithm == plan::NcclAlgorithm::kTree) shape = collective::NcclShape::kTree;
  AlgorithmSet alike;
  for (std::size_t i = 0; i < collective::kAlgorithms; ++i)
    alike[i] =
        shape != collective::NcclShape::kNone && collective::kAlgorithmRows[i]->nccl_shape == shape;
  return alike;
}

plan::TimeTable TimesOverLinks(const collective::Call& call, const collective::Layout& layout,
                               const collective::Tuner& tuner) {
  plan::TimeTable times;
  const auto candidates = collective::CandidatesFor(call, layout, tuner);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const AlgorithmSet alike = OverLinksLike(static_cast<plan::NcclAlgorithm>(i));
    auto& time = times[i][static_cast<std::size_t>(plan::Protocol::kSimple)];
    for (const collective::Candidate& candidate : candidates)
      if (candidate.allowed && alike[static_cast<std::size_t>(candidate.algorithm)])
        time = std::min(time.value_or(candidate.time_ns), candidate.time_ns);
  }
  return times;
}

collective::Tuner Restricted(collective::Tuner tuner, const collective::Call& call) {
  if (call.algorithms != 0)
    tuner.choice.allowed[static_cast<std::size_t>(call.kind)] &= AlgorithmSet(call.algorithms);
  return tuner;
}

bool CanRun(const collective::Call& call, const collective::Layout& layout,
            const collective::Tuner& tuner) {
  if (call.algorithms == 0 || call.count == 0) return true;  // no algorithm runs
  const collective::Tuner restricted = Restricted(tuner, call);
  return restricted.choice.Allows(call.kind, collective::Select(call, layout, restricted));
}

}  // namespace ringlet::comm
