#include "plan/tuning/tuning_choice.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"

namespace ringlet::plan {
namespace {

constexpr std::array<std::string_view, kAlgorithms> kAlgorithmNames = {
    "Tree", "Ring", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::array<std::string_view, kProtocols> kProtocolNames = {"LL", "LL128", "Simple"};
constexpr std::array<std::string_view, kFunctions> kFunctionNames = {
    "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};

constexpr std::size_t kWordBytesShown = 60;  // of a bad word in a message

template <std::size_t kNames>
std::string ListOf(const std::array<std::string_view, kNames>& names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

template <std::size_t kNames>
Result<std::size_t> NumberOf(std::string_view word, std::string_view variable,
                             const std::array<std::string_view, kNames>& names) {
  for (std::size_t i = 0; i < kNames; ++i)
    if (EqualIgnoringCase(word, names[i])) return i;
  return Error{Code::kInvalidArgument,
               fmt::format("{} has {}, but it must be one of {}", variable,
                           Quoted(Printable(word, kWordBytesShown)), ListOf(names))};
}

template <std::size_t kNames>
Result<std::bitset<kNames>> SetOf(std::string_view list, std::string_view variable,
                                  const std::array<std::string_view, kNames>& names) {
  const bool all_but = list.starts_with('^');
  if (all_but) list.remove_prefix(1);
  std::bitset<kNames> named;
  for (const std::string_view word : Split(list, ',')) {
    RINGLET_TRY_ASSIGN(const std::size_t number, NumberOf(Trim(word), variable, names));
    named.set(number);
  }
  return all_but ? ~named : named;
}

template <std::size_t kNames>
Status ReadEntry(std::string_view entry, bool first, std::string_view variable,
                 const std::array<std::string_view, kNames>& names,
                 std::array<std::bitset<kNames>, kFunctions>& out) {
  const std::size_t colon = entry.find(':');
  if (colon == std::string_view::npos) {
    if (!first)
      return Error{Code::kInvalidArgument,
                   fmt::format("{} has {} without a function before it; only the first list may "
                               "stand for all",
                               variable, Quoted(Printable(entry, kWordBytesShown)))};
    RINGLET_TRY_ASSIGN(const std::bitset<kNames> set, SetOf(entry, variable, names));
    out.fill(set);
    return Ok();
  }
  RINGLET_TRY_ASSIGN(const std::size_t function,
                     NumberOf(Trim(entry.substr(0, colon)), variable, kFunctionNames));
  RINGLET_TRY_ASSIGN(out[function], SetOf(Trim(entry.substr(colon + 1)), variable, names));
  return Ok();
}

template <std::size_t kNames>
Status ReadList(std::string_view text, std::string_view variable,
                const std::array<std::string_view, kNames>& names,
                std::array<std::bitset<kNames>, kFunctions>& out) {
  for (auto& set : out) set.set();
  if (Trim(text).empty()) return Ok();
  bool first = true;
  for (const std::string_view entry : Split(text, ';')) {
    RINGLET_TRY(ReadEntry(Trim(entry), first, variable, names, out));
    first = false;
  }
  return Ok();
}

}  // namespace

std::string_view NameOf(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

std::string_view NameOf(Protocol protocol) {
  return kProtocolNames[static_cast<std::size_t>(protocol)];
}

std::string_view NameOf(Function function) {
  return kFunctionNames[static_cast<std::size_t>(function)];
}

Result<TuningChoice> ParseTuningChoice(std::string_view algorithms, std::string_view protocols) {
  TuningChoice choice;
  RINGLET_TRY(ReadList(algorithms, "NCCL_ALGO", kAlgorithmNames, choice.algorithms));
  RINGLET_TRY(ReadList(protocols, "NCCL_PROTO", kProtocolNames, choice.protocols));
  choice.protocols_given = !Trim(protocols).empty();
  return choice;
}

}  // namespace ringlet::plan
