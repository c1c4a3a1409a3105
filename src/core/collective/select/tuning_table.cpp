#include "collective/select/tuning_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/value/text.hpp"
#include "transport/arena/arena.hpp"

namespace ringlet::collective {
namespace {

constexpr std::string_view kFirstLine = "ringlet-tuning 1";
constexpr std::size_t kWordBytesShown = 60;    // of a bad word in a message
constexpr std::size_t kChoicesMax = 100'000;   // 13 operations and sizes of a thousand layouts
constexpr std::uint32_t kRanksMax = 1u << 20;  // more than any communicator has had

auto KeyOf(const TunedChoice& choice) {
  return std::tuple(choice.kind, choice.ranks, choice.hosts, IsOnSharedMemory(choice.algorithm),
                    choice.bytes_max);
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

struct FileLine {
  std::string_view path;
  std::size_t number;

  Error Bad(std::string_view what) const {
    return {Code::kInvalidArgument, fmt::format("{}, line {}: {}", path, number, what)};
  }
  Error BadWord(std::string_view word, std::string_view must) const {
    return Bad(fmt::format("{} is not {}", Quoted(Printable(word, kWordBytesShown)), must));
  }
};

Result<std::uint32_t> NumberIn(std::string_view word, const FileLine& here, std::string_view what) {
  const auto number = ParseDecimal(word);
  if (!number || *number == 0 || *number > kRanksMax) return here.BadWord(word, what);
  return static_cast<std::uint32_t>(*number);
}

/// Tries a layout with all algorithms that can exist on one host or on several hosts.
bool CanRun(CallKind kind, Algorithm algorithm, bool several_hosts) {
  const Groups groups = EvenGroups(8, several_hosts ? 4 : 1);
  Layout layout{.order = InOrder(groups), .groups = groups};
  if (!several_hosts && IsOnSharedMemory(algorithm))
    layout.post_bytes = transport::ArenaShape().slot_bytes;
  if (several_hosts) layout.sharing = groups;
  const auto known = AlgorithmsFor(kind, layout);
  return std::ranges::find(known, algorithm) != known.end();
}

Status CheckRoom(const TunedChoice& choice, const FileLine& here) {
  const std::size_t most =
      transport::ArenaShape().slot_bytes / (PieceEach(choice.kind) ? choice.ranks : 1);
  if (choice.algorithm != Algorithm::kOneShot || choice.kind == CallKind::kBarrier ||
      choice.bytes_max <= most)
    return Ok();
  return here.Bad(fmt::format("one_shot of {} among {} ranks takes at most {} bytes",
                              Name(choice.kind), choice.ranks, most));
}

Result<TunedChoice> ReadLine(const std::vector<std::string_view>& words, const FileLine& here) {
  constexpr std::size_t kWords = 8;
  if (words.size() != kWords || words[1] != "ranks" || words[3] != "hosts" || words[5] != "bytes")
    return here.Bad("a line is OPERATION ranks N hosts N bytes (N or any) ALGORITHM");
  TunedChoice choice;
  const auto kind = CallKindNamed(words[0]);
  if (!kind) return here.BadWord(words[0], "an operation");
  choice.kind = *kind;
  RINGLET_TRY_ASSIGN(choice.ranks, NumberIn(words[2], here, "a number of ranks"));
  RINGLET_TRY_ASSIGN(choice.hosts, NumberIn(words[4], here, "a number of hosts"));
  if (choice.hosts > choice.ranks) return here.Bad("there are more hosts than ranks");
  const auto bytes = ParseDecimal(words[6]);
  if (!bytes && words[6] != "any") return here.BadWord(words[6], "a number of bytes or \"any\"");
  choice.bytes_max = bytes ? static_cast<std::size_t>(*bytes) : kAnyBytes;
  const auto algorithm = AlgorithmNamed(words[7]);
  if (!algorithm || !CanRun(choice.kind, *algorithm, choice.hosts > 1))
    return here.BadWord(words[7], fmt::format("an algorithm of {} on {}", Name(choice.kind),
                                              choice.hosts > 1 ? "several hosts" : "one host"));
  choice.algorithm = *algorithm;
  RINGLET_TRY(CheckRoom(choice, here));
  return choice;
}

constexpr std::uint64_t kNanosecondsMax = 1'000'000'000;
constexpr std::uint64_t kMbPerSMax = 10'000'000;

/// Reads a line "link local|remote latency_ns N overhead_ns N mb_per_s N".
Status ReadLink(const std::vector<std::string_view>& words, const FileLine& here,
                MeasuredLinks& links) {
  constexpr std::size_t kWords = 8;
  const bool remote = words.size() > 1 && words[1] == "remote";
  if (words.size() != kWords || !(remote || words[1] == "local") || words[2] != "latency_ns" ||
      words[4] != "overhead_ns" || words[6] != "mb_per_s")
    return here.Bad("a link is link local|remote latency_ns N overhead_ns N mb_per_s N");
  std::optional<LinkCost>& link = remote ? links.remote : links.local;
  if (link) return here.Bad(fmt::format("{} links are described twice", words[1]));
  const auto number = [&](std::size_t at, std::uint64_t most) -> Result<std::uint64_t> {
    const auto value = ParseDecimal(words[at]);
    if (!value || *value == 0 || *value > most)
      return here.BadWord(words[at],
                          fmt::format("a value of {} from 1 to {}", words[at - 1], most));
    return *value;
  };
  LinkCost read;
  RINGLET_TRY_ASSIGN(read.latency_ns, number(3, kNanosecondsMax));
  RINGLET_TRY_ASSIGN(read.overhead_ns, number(5, kNanosecondsMax));
  RINGLET_TRY_ASSIGN(const std::uint64_t mb_per_s, number(7, kMbPerSMax));
  read.mb_per_s = static_cast<std::uint32_t>(mb_per_s);
  link = read;
  return Ok();
}

std::string LinkText(std::string_view name, const std::optional<LinkCost>& link) {
  if (!link) return "";
  return fmt::format("link {} latency_ns {} overhead_ns {} mb_per_s {}\n", name, link->latency_ns,
                     link->overhead_ns, link->mb_per_s);
}

}  // namespace

TuningTable::TuningTable(std::vector<TunedChoice> choices, MeasuredLinks links)
    : choices_(std::move(choices)), links_(links) {
  std::ranges::sort(choices_, Earlier);
}

Result<TuningTable> TuningTable::Parse(std::string_view text, std::string_view path) {
  std::vector<TunedChoice> choices;
  MeasuredLinks links;
  FileLine here{path, 0};
  for (std::string_view line : Split(text, '\n')) {
    ++here.number;
    if (here.number == 1) {
      if (Trim(line) != kFirstLine)
        return here.Bad(fmt::format("the first line must be \"{}\"", kFirstLine));
      continue;
    }
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::vector<std::string_view> words = WordsOf(line);
    if (words.front() == "link") {
      RINGLET_TRY(ReadLink(words, here, links));
      continue;
    }
    RINGLET_TRY_ASSIGN(const TunedChoice choice, ReadLine(words, here));
    if (choices.size() == kChoicesMax) return here.Bad("there are too many lines");
    choices.push_back(choice);
  }
  TuningTable table(std::move(choices), links);
  const auto twice = std::ranges::adjacent_find(
      table.choices_, [](const auto& a, const auto& b) { return KeyOf(a) == KeyOf(b); });
  if (twice != table.choices_.end())
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} has two choices for {} among {} ranks on {} hosts with the same bytes",
                    path, Name(twice->kind), twice->ranks, twice->hosts)};
  return table;
}

std::optional<Algorithm> TuningTable::For(CallKind kind, std::uint32_t ranks, std::uint32_t hosts,
                                          std::size_t bytes, bool on_shared_memory) const {
  const TunedChoice wanted{.kind = kind,
                           .ranks = ranks,
                           .hosts = hosts,
                           .bytes_max = bytes,
                           .algorithm = on_shared_memory ? Algorithm::kOneShot : Algorithm::kRing};
  const auto found = std::ranges::lower_bound(choices_, wanted, Earlier);
  if (found == choices_.end() || found->kind != kind || found->ranks != ranks ||
      found->hosts != hosts || IsOnSharedMemory(found->algorithm) != on_shared_memory)
    return std::nullopt;
  return found->algorithm;
}

std::vector<std::size_t> TuningTable::BoundsOf(CallKind kind, std::uint32_t ranks) const {
  std::vector<std::size_t> bounds;
  for (const TunedChoice& choice : choices_)
    if (choice.kind == kind && choice.ranks == ranks && IsOnSharedMemory(choice.algorithm))
      bounds.push_back(choice.bytes_max);
  return bounds;
}

CostModel TuningTable::WithMeasuredLinks(CostModel model) const {
  model.local = links_.local.value_or(model.local);
  model.remote = links_.remote.value_or(model.remote);
  return model;
}

std::string TuningTable::ToText(std::string_view comment) const {
  std::string text = fmt::format("{}\n", kFirstLine);
  if (!comment.empty()) text += fmt::format("# {}\n", comment);
  for (const TunedChoice& choice : choices_)
    text += fmt::format(
        "{} ranks {} hosts {} bytes {} {}\n", Name(choice.kind), choice.ranks, choice.hosts,
        choice.bytes_max == kAnyBytes ? std::string("any") : std::to_string(choice.bytes_max),
        Name(choice.algorithm));
  return text + LinkText("local", links_.local) + LinkText("remote", links_.remote);
}

}  // namespace ringlet::collective
