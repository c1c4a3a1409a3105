#include "collective/select/algorithm_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/value/text.hpp"

namespace ringlet::collective {
namespace {

using AlgorithmSet = std::bitset<kAlgorithms>;
constexpr std::size_t kShownBytesMax = 60;  // of a bad word in a message

/// Everything that can do a call of this kind on some layout: one with hosts and ranks of all
/// sorts.
AlgorithmSet Known(CallKind kind) {
  AlgorithmSet known;
  const Layout layout{.order = InOrder(EvenGroups(4, 2)), .groups = EvenGroups(4, 2)};
  for (const Algorithm algorithm : AlgorithmsFor(kind, layout))
    known.set(static_cast<std::size_t>(algorithm));
  return known;
}

std::string ListOf(AlgorithmSet set) {
  std::string list;
  for (std::size_t i = 0; i < kAlgorithms; ++i)
    if (set[i]) list += fmt::format("{}{}", list.empty() ? "" : ", ", Name(Algorithm(i)));
  return list;
}

Error Bad(std::string_view word, std::string_view must) {
  return {Code::kInvalidArgument, fmt::format("RINGLET_HOST_ALGO has {}, but {}",
                                              Quoted(Printable(word, kShownBytesMax)), must)};
}

Result<AlgorithmSet> SetOf(std::string_view list, AlgorithmSet known) {
  const bool all_but = list.starts_with('^');
  if (all_but) list.remove_prefix(1);
  AlgorithmSet named;
  for (const std::string_view word : Split(list, ',')) {
    const auto algorithm = AlgorithmNamed(Trim(word));
    if (!algorithm || !known[static_cast<std::size_t>(*algorithm)])
      return Bad(word, "it must be one of " + ListOf(known));
    named.set(static_cast<std::size_t>(*algorithm));
  }
  return all_but ? known & ~named : named;
}

/// A list for all: where none of it can do a call, it says nothing of that one.
Status ReadForAll(std::string_view list, AlgorithmChoice& choice) {
  RINGLET_TRY_ASSIGN(const AlgorithmSet set, SetOf(list, AlgorithmSet().set()));
  for (std::size_t kind = 0; kind < kCallKinds; ++kind)
    if ((Known(CallKind(kind)) & set).any()) choice.allowed[kind] = set;
  return Ok();
}

Status ReadForOne(std::string_view operation, std::string_view list, AlgorithmChoice& choice) {
  const auto kind = CallKindNamed(Trim(operation));
  const AlgorithmSet known = kind ? Known(*kind) : AlgorithmSet();
  if (known.none()) return Bad(operation, "that is no operation with a choice of algorithms");
  RINGLET_TRY_ASSIGN(const AlgorithmSet set, SetOf(list, known));
  if (set.none()) return Bad(list, fmt::format("that leaves nothing for {}", Name(*kind)));
  choice.allowed[static_cast<std::size_t>(*kind)] = set;
  return Ok();
}

}  // namespace

Result<AlgorithmChoice> ParseAlgorithmChoice(std::string_view text) {
  AlgorithmChoice choice;
  if (Trim(text).empty()) return choice;
  bool first = true;
  for (const std::string_view entry : Split(text, ';')) {
    const std::size_t colon = entry.find(':');
    if (colon != std::string_view::npos) {
      RINGLET_TRY(ReadForOne(entry.substr(0, colon), Trim(entry.substr(colon + 1)), choice));
    } else if (first) {
      RINGLET_TRY(ReadForAll(Trim(entry), choice));
    } else {
      return Bad(entry, "only the first list may stand without an operation");
    }
    first = false;
  }
  return choice;
}

}  // namespace ringlet::collective
