#include "collective/select/algorithm_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/value/choice_list.hpp"

namespace ringlet::collective {
namespace {

/// Returns all algorithms that run a call of this kind on some layout. Tries one with several hosts
/// and ranks, with and without shared memory.
AlgorithmSet AlgorithmsOfKind(CallKind kind) {
  AlgorithmSet known;
  const Groups groups = EvenGroups(4, 2);
  Layout layout{.order = InOrder(groups), .groups = groups, .sharing = groups};
  for (const std::size_t post_bytes : {std::size_t{0}, std::size_t{1}}) {
    layout.post_bytes = post_bytes;
    for (const Algorithm algorithm : AlgorithmsFor(kind, layout))
      known.set(static_cast<std::size_t>(algorithm));
  }
  return known;
}

std::string ListOf(AlgorithmSet set) {
  std::string list;
  for (std::size_t i = 0; i < kAlgorithms; ++i)
    if (set[i]) list += fmt::format("{}{}", list.empty() ? "" : ", ", Name(Algorithm(i)));
  return list;
}

Error Bad(std::string_view word, std::string_view why) {
  return BadChoice("RINGLET_HOST_ALGO", word, why);
}

Result<AlgorithmSet> SetOf(const ChoiceEntry& entry, AlgorithmSet known) {
  RINGLET_TRY_ASSIGN(
      AlgorithmSet set,
      AllowedBy<kAlgorithms>(entry, [&](std::string_view name) -> Result<std::size_t> {
        const auto algorithm = AlgorithmNamed(name);
        if (algorithm && known[static_cast<std::size_t>(*algorithm)])
          return static_cast<std::size_t>(*algorithm);
        return Bad(name, "it must be one of " + ListOf(known));
      }));
  // An adaptive operation may become any of these, so excluding one excludes it too.
  for (const Algorithm part : {Algorithm::kSlices, Algorithm::kZeroCopy, Algorithm::kFetch})
    if (entry.all_but && !set[static_cast<std::size_t>(part)])
      set.reset(static_cast<std::size_t>(Algorithm::kAdaptive));
  return known & set;
}

/// Returns true if no algorithm is left. Exclusions must leave one for each existing medium.
bool ExcludesAll(bool all_but, AlgorithmSet known, AlgorithmSet left) {
  AlgorithmSet over_links;
  for (std::size_t i = 0; i < kAlgorithms; ++i) over_links[i] = !IsOnSharedMemory(Algorithm(i));
  const auto lacks = [&](AlgorithmSet medium) {
    return (known & medium).any() && (left & medium).none();
  };
  return left.none() || (all_but && (lacks(over_links) || lacks(~over_links)));
}

/// Reads a list for all operations. Skips an operation that no listed algorithm can run.
Status ReadForAll(const ChoiceEntry& entry, AlgorithmChoice& choice) {
  RINGLET_TRY_ASSIGN(const AlgorithmSet set, SetOf(entry, AlgorithmSet().set()));
  for (std::size_t kind = 0; kind < kCallKinds; ++kind)
    if ((AlgorithmsOfKind(CallKind(kind)) & set).any()) choice.allowed[kind] = set;
  return Ok();
}

Status ReadForOne(const ChoiceEntry& entry, AlgorithmChoice& choice) {
  const auto kind = CallKindNamed(entry.subject);
  const AlgorithmSet known = kind ? AlgorithmsOfKind(*kind) : AlgorithmSet();
  if (known.none()) return Bad(entry.subject, "it is not an operation with a choice of algorithms");
  RINGLET_TRY_ASSIGN(const AlgorithmSet set, SetOf(entry, known));
  if (ExcludesAll(entry.all_but, known, set))
    return Bad(entry.list, fmt::format("it excludes all algorithms of {}", Name(*kind)));
  choice.allowed[static_cast<std::size_t>(*kind)] = set;
  return Ok();
}

}  // namespace

Result<AlgorithmChoice> ParseAlgorithmChoice(std::string_view text) {
  AlgorithmChoice choice;
  RINGLET_TRY_ASSIGN(const auto entries, ParseChoiceList(text, "RINGLET_HOST_ALGO"));
  for (const ChoiceEntry& entry : entries)
    RINGLET_TRY(entry.subject.empty() ? ReadForAll(entry, choice) : ReadForOne(entry, choice));
  return choice;
}

}  // namespace ringlet::collective
