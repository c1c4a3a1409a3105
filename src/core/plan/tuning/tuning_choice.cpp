#include "plan/tuning/tuning_choice.hpp"

#include <string>

#include "base/settings/setting_table.hpp"
#include "base/value/choice_list.hpp"
#include "base/value/text.hpp"

namespace ringlet::plan {
namespace {

constexpr std::array<std::string_view, kAlgorithms> kAlgorithmNames = {
    "Tree", "Ring", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::array<std::string_view, kProtocols> kProtocolNames = {"LL", "LL128", "Simple"};
constexpr std::array<std::string_view, kFunctions> kFunctionNames = {
    "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};

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
  return BadChoice(variable, word, "it must be one of " + ListOf(names));
}

template <std::size_t kNames>
Status ReadList(std::string_view text, std::string_view variable,
                const std::array<std::string_view, kNames>& names,
                std::array<std::bitset<kNames>, kFunctions>& out) {
  for (auto& set : out) set.set();
  RINGLET_TRY_ASSIGN(const auto entries, ParseChoiceList(text, variable));
  for (const ChoiceEntry& entry : entries) {
    RINGLET_TRY_ASSIGN(const auto set, AllowedBy<kNames>(entry, [&](std::string_view name) {
                         return NumberOf(name, variable, names);
                       }));
    if (entry.subject.empty()) {
      out.fill(set);
      continue;
    }
    RINGLET_TRY_ASSIGN(const std::size_t function,
                       NumberOf(entry.subject, variable, kFunctionNames));
    out[function] = set;
  }
  return Ok();
}

}  // namespace

std::string_view NameOf(NcclAlgorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

std::string_view NameOf(Protocol protocol) {
  return kProtocolNames[static_cast<std::size_t>(protocol)];
}

std::string_view NameOf(Function function) {
  return kFunctionNames[static_cast<std::size_t>(function)];
}

Result<TuningChoice> ParseTuningChoice(std::string_view algorithms, std::string_view protocols) {
  Settings settings;
  settings.algo = algorithms;
  settings.proto = protocols;
  return ReadTuningChoice(settings);
}

Result<TuningChoice> ReadTuningChoice(const Settings& settings) {
  TuningChoice choice;
  RINGLET_TRY(
      ReadList(settings.algo, VariableOf(settings, "ALGO"), kAlgorithmNames, choice.algorithms));
  RINGLET_TRY(
      ReadList(settings.proto, VariableOf(settings, "PROTO"), kProtocolNames, choice.protocols));
  choice.protocols_given = !Trim(settings.proto).empty();
  return choice;
}

}  // namespace ringlet::plan
