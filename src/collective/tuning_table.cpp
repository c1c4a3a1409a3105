#include "collective/tuning_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.hpp"

namespace ringlet::collective {
namespace {

constexpr std::string_view kFirstLine = "ringlet-tuning 1";
constexpr std::size_t kShownBytesMax = 60;     // of a bad word in a message
constexpr std::size_t kChoicesMax = 100'000;   // 13 operations and sizes of a thousand layouts
constexpr std::uint32_t kRanksMax = 1u << 20;  // more than any communicator has had

auto KeyOf(const TunedChoice& choice) {
  return std::tuple(choice.kind, choice.ranks, choice.hosts, choice.bytes_max);
}

bool Earlier(const TunedChoice& a, const TunedChoice& b) {
  return KeyOf(a) < KeyOf(b);
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(line, ' '))
    if (!Trim(word).empty()) words.push_back(Trim(word));
  return words;
}

struct Line {
  std::string_view path;
  std::size_t number;

  Error Bad(std::string_view what) const {
    return {Code::kInvalidArgument, fmt::format("{}, line {}: {}", path, number, what)};
  }
  Error BadWord(std::string_view word, std::string_view must) const {
    return Bad(fmt::format("{} is no {}", Quoted(Printable(word, kShownBytesMax)), must));
  }
};

Result<std::uint32_t> NumberIn(std::string_view word, const Line& here, std::string_view what) {
  const auto number = ParseDecimal(word);
  if (!number || *number == 0 || *number > kRanksMax) return here.BadWord(word, what);
  return static_cast<std::uint32_t>(*number);
}

/// A layout on which every algorithm exists that could exist for so many hosts.
bool Knows(CallKind kind, Algorithm algorithm, bool several_hosts) {
  const Groups groups = EvenGroups(8, several_hosts ? 4 : 1);
  const auto known = AlgorithmsFor(kind, {.order = InOrder(groups), .groups = groups});
  return std::ranges::find(known, algorithm) != known.end();
}

Result<TunedChoice> ReadLine(const std::vector<std::string_view>& words, const Line& here) {
  constexpr std::size_t kWords = 8;
  if (words.size() != kWords || words[1] != "ranks" || words[3] != "hosts" || words[5] != "bytes")
    return here.Bad("a line is OPERATION ranks N hosts N bytes (N or any) ALGORITHM");
  TunedChoice choice;
  const auto kind = CallKindNamed(words[0]);
  if (!kind) return here.BadWord(words[0], "operation");
  choice.kind = *kind;
  RINGLET_TRY_ASSIGN(choice.ranks, NumberIn(words[2], here, "number of ranks"));
  RINGLET_TRY_ASSIGN(choice.hosts, NumberIn(words[4], here, "number of hosts"));
  if (choice.hosts > choice.ranks) return here.Bad("there are more hosts than ranks");
  const auto bytes = ParseDecimal(words[6]);
  if (!bytes && words[6] != "any")
    return here.BadWord(words[6], "number of bytes, and not \"any\"");
  choice.bytes_max = bytes ? static_cast<std::size_t>(*bytes) : kAnyBytes;
  const auto algorithm = AlgorithmNamed(words[7]);
  if (!algorithm || !Knows(choice.kind, *algorithm, choice.hosts > 1))
    return here.BadWord(words[7], fmt::format("algorithm of {} on {}", Name(choice.kind),
                                              choice.hosts > 1 ? "several hosts" : "one host"));
  choice.algorithm = *algorithm;
  return choice;
}

}  // namespace

TuningTable::TuningTable(std::vector<TunedChoice> choices) : choices_(std::move(choices)) {
  std::ranges::sort(choices_, Earlier);
}

Result<TuningTable> TuningTable::Parse(std::string_view text, std::string_view path) {
  std::vector<TunedChoice> choices;
  Line here{path, 0};
  for (std::string_view line : Split(text, '\n')) {
    ++here.number;
    if (here.number == 1) {
      if (Trim(line) != kFirstLine)
        return here.Bad(fmt::format("the first line must be \"{}\"", kFirstLine));
      continue;
    }
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    RINGLET_TRY_ASSIGN(const TunedChoice choice, ReadLine(WordsOf(line), here));
    if (choices.size() == kChoicesMax) return here.Bad("there are too many lines");
    choices.push_back(choice);
  }
  TuningTable table(std::move(choices));
  const auto twice = std::ranges::adjacent_find(
      table.choices_, [](const auto& a, const auto& b) { return KeyOf(a) == KeyOf(b); });
  if (twice != table.choices_.end())
    return Error{Code::kInvalidArgument,
                 fmt::format("{} says twice what {} among {} ranks on {} hosts is to use for the "
                             "same bytes",
                             path, Name(twice->kind), twice->ranks, twice->hosts)};
  return table;
}

std::optional<Algorithm> TuningTable::For(CallKind kind, std::uint32_t ranks, std::uint32_t hosts,
                                          std::size_t bytes) const {
  const TunedChoice wanted{.kind = kind, .ranks = ranks, .hosts = hosts, .bytes_max = bytes};
  const auto found = std::ranges::lower_bound(choices_, wanted, Earlier);
  if (found == choices_.end() || found->kind != kind || found->ranks != ranks ||
      found->hosts != hosts)
    return std::nullopt;
  return found->algorithm;
}

std::string TuningTable::ToText(std::string_view comment) const {
  std::string text = fmt::format("{}\n", kFirstLine);
  if (!comment.empty()) text += fmt::format("# {}\n", comment);
  for (const TunedChoice& choice : choices_)
    text += fmt::format(
        "{} ranks {} hosts {} bytes {} {}\n", Name(choice.kind), choice.ranks, choice.hosts,
        choice.bytes_max == kAnyBytes ? std::string("any") : std::to_string(choice.bytes_max),
        Name(choice.algorithm));
  return text;
}

}  // namespace ringlet::collective
