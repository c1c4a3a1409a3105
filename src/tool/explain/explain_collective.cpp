#include "tool/explain/explain_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/settings/settings.hpp"
#include "collective/algorithm/shared_hierarchy.hpp"
#include "comm/backend/host_memory.hpp"
#include "comm/process/parts/tuning.hpp"
#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"
#include "tool/operation/operation_alias.hpp"
#include "tool/operation/size_units.hpp"
#include "tool/operation/sweep.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"
#include "transport/arena/arena.hpp"

namespace ringlet::cli {
namespace {

using collective::Call;
using collective::CallKind;
using collective::Candidate;
using collective::Layout;
using Json = nlohmann::ordered_json;

constexpr std::string_view kExplain = "explain";
constexpr std::size_t kElementBytes = 4;
constexpr std::uint32_t kExplainedRanksMax = 1024;  // limit of -n and --hosts

struct CollectiveWords {
  CollectiveQuestion question;
  std::string bytes = "1M";
  bool json = false;
};

/// The call of a question with its layout.
struct ExplainedCall {
  Call call;
  Layout layout;
};

ExplainedCall CallOf(const CollectiveQuestion& question);

/// Returns the count of NCCL's call for a size of the larger buffer.
std::size_t CountOf(const CollectiveQuestion& question) {
  const std::size_t elements = question.bytes / kElementBytes;
  const Call one{.kind = question.kind, .count = 1};
  const collective::CallPlace place{.self = one.root, .ranks = question.ranks};
  const std::size_t buffer = std::max(InputCount(one, place), OutputCount(one, place));
  return question.kind == CallKind::kBarrier ? 1 : elements / std::max<std::size_t>(buffer, 1);
}

std::string CostText(const char* name, const collective::LinkCost& link) {
  return fmt::format("  {:<14} {:>7.1f} us per message, {:.1f} us of it processor time; {} MB/s\n",
                     name, static_cast<double>(link.latency_ns + link.overhead_ns) / 1e3,
                     static_cast<double>(link.overhead_ns) / 1e3, link.mb_per_s);
}

std::string CandidatesText(std::vector<Candidate> candidates, collective::Algorithm chosen,
                           bool measured) {
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.time_ns < b.time_ns; });
  std::string text = "  algorithm               predicted\n";
  for (const Candidate& candidate : candidates) {
    const char* note = candidate.algorithm == chosen
                           ? measured ? "  chosen: the fastest in measurements" : "  chosen"
                       : candidate.allowed ? ""
                                           : "  not allowed by RINGLET_HOST_ALGO";
    text += fmt::format("  {:<28} {:>8.1f} us{}\n", Name(candidate.algorithm),
                        static_cast<double>(candidate.time_ns) / 1e3, note);
  }
  return text;
}

std::string ScoresText(const std::vector<collective::Score>& scores, std::size_t bytes) {
  std::string text = "\nThrough the memory that the ranks share, blocks of up to\n";
  bool found = false;
  for (const collective::Score& score : scores) {
    const bool chosen = !found && bytes <= score.bytes_max;
    found = found || chosen;
    const auto next = NextOf(score.algorithm);
    text += fmt::format(
        "  {:>12}  {:<9}  {}{}{}{}\n",
        score.bytes_max == collective::kAnyBytes ? "any size" : std::to_string(score.bytes_max),
        Name(score.algorithm), RowOf(score.algorithm).summary,
        next ? fmt::format("; else {}", Name(*next)) : "",
        score.measured ? "; set by the tuning file" : "", chosen ? "  chosen" : "");
  }
  return text + fmt::format("This call has blocks of {} bytes.\n", bytes);
}

/// Describes the choice of an algorithm over links.
std::string AlgorithmText(const CollectiveQuestion& question, const Call& call,
                          const Layout& layout, const collective::Tuner& tuner) {
  const auto chosen = collective::Select(call, layout, tuner);
  std::string text = "\nLinks cost\n" + CostText("within a host", tuner.model.local);
  if (question.hosts > 1) text += CostText("between hosts", tuner.model.remote);
  text += "\nso that the last rank is done after\n";
  const bool measured = MeasuredFor(call, layout, tuner).has_value();
  text += CandidatesText(collective::CandidatesFor(call, layout, tuner), chosen, measured);
  for (std::uint32_t rank = 0; rank < question.ranks; ++rank) {
    if (question.rank.value_or(rank) != rank) continue;
    const auto parts = BuildParts(chosen, call, {Rank{rank}, question.ranks}, layout);
    text += fmt::format("\nRank {}: {}", rank, ToText(parts));
  }
  return text;
}

Json LinkJson(const collective::LinkCost& link) {
  return {{"latency_ns", link.latency_ns},
          {"overhead_ns", link.overhead_ns},
          {"mb_per_s", link.mb_per_s}};
}

Json PlaceJson(const collective::Place& place) {
  constexpr const char* kNames[] = {"input", "output", "scratch"};
  return {{"buffer", kNames[static_cast<std::size_t>(place.buffer)]}, {"begin", place.begin}};
}

Json StepJson(const collective::Step& step) {
  constexpr const char* kNames[] = {"send", "receive", "receive_reduce", "copy", "reduce"};
  Json json = {{"kind", kNames[static_cast<std::size_t>(step.kind)]}, {"count", step.count}};
  if (Communicates(step.kind)) json["peer"] = Index(step.peer);
  if (Communicates(step.kind)) json["channel"] = step.channel;
  if (Reads(step.kind)) json["from"] = PlaceJson(step.from);
  if (Writes(step.kind)) json["to"] = PlaceJson(step.to);
  if (step.swapped) json["swapped"] = true;
  if (step.finishes) json["finishes"] = true;
  return json;
}

Json PartJson(const collective::Schedule& schedule) {
  Json steps = Json::array();
  for (const collective::Step& step : schedule.steps) steps.push_back(StepJson(step));
  return {{"over", "links"}, {"steps", std::move(steps)}};
}

Json PartJson(const collective::HostPart& part) {
  return {
      {"over", "memory"},    {"operation", Name(part.kind)},   {"root", Index(part.root)},
      {"count", part.count}, {"input", PlaceJson(part.input)}, {"output", PlaceJson(part.output)}};
}

Json RankJson(std::uint32_t rank, const collective::CallParts& parts) {
  Json list = Json::array();
  for (const collective::CallPart& part : parts.parts)
    list.push_back(std::visit([](const auto& one) { return PartJson(one); }, part));
  return {{"rank", rank}, {"scratch_count", parts.scratch_count}, {"parts", std::move(list)}};
}

/// Adds the ways through shared memory.
void AddMemoryChoices(Json& json, const std::vector<collective::Score>& scores, std::size_t bytes) {
  Json ways = Json::array();
  for (const collective::Score& score : scores) {
    const auto next = NextOf(score.algorithm);
    ways.push_back(
        {{"bytes_max", score.bytes_max == collective::kAnyBytes ? Json() : Json(score.bytes_max)},
         {"algorithm", Name(score.algorithm)},
         {"else", next ? Json(Name(*next)) : Json()},
         {"measured", score.measured}});
    if (!json.contains("algorithm") && bytes <= score.bytes_max)
      json["algorithm"] = Name(score.algorithm);
  }
  json["block_bytes"] = bytes;
  json["ways"] = std::move(ways);
}

/// Adds the algorithms over links.
void AddAlgorithms(Json& json, const CollectiveQuestion& question, const ExplainedCall& one,
                   const collective::Tuner& tuner) {
  const auto chosen = collective::Select(one.call, one.layout, tuner);
  json["algorithm"] = Name(chosen);
  json["measured"] = MeasuredFor(one.call, one.layout, tuner).has_value();
  json["links"] = {{"local", LinkJson(tuner.model.local)}};
  if (question.hosts > 1) json["links"]["remote"] = LinkJson(tuner.model.remote);
  Json candidates = Json::array();
  for (const Candidate& candidate : collective::CandidatesFor(one.call, one.layout, tuner))
    candidates.push_back({{"algorithm", Name(candidate.algorithm)},
                          {"time_us", static_cast<double>(candidate.time_ns) / 1e3},
                          {"allowed", candidate.allowed}});
  json["candidates"] = std::move(candidates);
  Json schedules = Json::array();
  for (std::uint32_t rank = 0; rank < question.ranks; ++rank)
    if (question.rank.value_or(rank) == rank)
      schedules.push_back(
          RankJson(rank, BuildParts(chosen, one.call, {Rank{rank}, question.ranks}, one.layout)));
  json["schedules"] = std::move(schedules);
}

int Run(const CollectiveWords& words) {
  CollectiveQuestion question = words.question;
  auto settings = os::ReadSettings(os::ReadEnvironment());
  if (!settings.ok()) return Fail(kExplain, settings.error());
  const auto choice = collective::ParseAlgorithmChoice(settings->host_algo);
  if (!choice.ok()) return Fail(kExplain, choice.error());
  auto measured = comm::ReadTuning(*settings);
  if (!measured.ok()) return Fail(kExplain, measured.error());
  const auto bytes = ParseSize(words.bytes);
  if (!bytes.ok()) return Fail(kExplain, bytes.error());
  question.bytes = *bytes;
  const auto refused = [](std::string why) {
    Fail(kExplain, {Code::kInvalidArgument, std::move(why)});
    return kExitUsage;
  };
  if (question.hosts > question.ranks)
    return refused(
        fmt::format("{} ranks are too few for {} hosts", question.ranks, question.hosts));
  if (std::max(question.root, question.rank.value_or(0)) >= question.ranks)
    return refused(fmt::format("ranks and roots are numbers from 0 to {}", question.ranks - 1));
  const std::uint32_t ranks_on_host = (question.ranks + question.hosts - 1) / question.hosts;
  question.shares_memory = comm::AllowsHostMemory(*settings, ranks_on_host);
  const collective::Tuner tuner = comm::TunerFor(*settings, *std::move(measured));
  fmt::print("{}", words.json ? CollectiveJson(question, tuner) : CollectiveText(question, tuner));
  return kExitDone;
}

ExplainedCall CallOf(const CollectiveQuestion& question) {
  const collective::Groups groups = collective::EvenGroups(question.ranks, question.hosts);
  ExplainedCall one{
      .call = {.kind = question.kind, .count = CountOf(question), .root = Rank{question.root}},
      .layout = {.order = collective::InOrder(groups), .groups = groups}};
  if (question.shares_memory && question.hosts > 1) one.layout.sharing = groups;
  if (question.shares_memory && question.hosts == 1)
    one.layout.post_bytes = transport::ArenaShape().slot_bytes;
  return one;
}

}  // namespace

std::string CollectiveText(const CollectiveQuestion& question, const collective::Tuner& tuner) {
  const auto [call, layout] = CallOf(question);
  const std::string text = fmt::format(
      "{} of {} bytes, {} floats a call, among {} on {}\n", Name(question.kind), question.bytes,
      call.count, Counted(question.ranks, "rank"), Counted(question.hosts, "host"));
  if (!question.shares_memory || question.hosts > 1)
    return text + AlgorithmText(question, call, layout, tuner);
  return text +
         ScoresText(collective::ScoreTable(layout, tuner).scores(call.kind), BlockBytes(call));
}

std::string CollectiveJson(const CollectiveQuestion& question, const collective::Tuner& tuner) {
  const ExplainedCall one = CallOf(question);
  Json json = {{"operation", Name(question.kind)}, {"bytes", question.bytes},
               {"count", one.call.count},          {"ranks", question.ranks},
               {"hosts", question.hosts},          {"root", question.root}};
  if (question.shares_memory && question.hosts == 1)
    AddMemoryChoices(json, collective::ScoreTable(one.layout, tuner).scores(question.kind),
                     BlockBytes(one.call));
  else
    AddAlgorithms(json, question, one, tuner);
  return JsonText(json);
}

void AddExplainCollective(CLI::App& explain, Action& chosen) {
  explain.require_subcommand(0, 1);
  for (std::size_t i = 0; i < collective::kCallKinds; ++i) {
    const auto kind = static_cast<CallKind>(i);
    if (kind == CallKind::kAllToAllV || kind == CallKind::kSendReceive) continue;
    CLI::App* one = explain.add_subcommand(std::string(Name(kind)),
                                           "Explain the choice of an algorithm, and its steps");
    for (const OperationAlias& other : kOperationAliases)
      if (other.name == Name(kind)) one->alias(std::string(other.alias));
    // The parser fills the words, and the action reads them later.
    const auto words = std::make_shared<CollectiveWords>();
    words->question.kind = kind;
    one->add_option("-n,--ranks", words->question.ranks, "Number of ranks")
        ->check(CLI::Range(1u, kExplainedRanksMax))
        ->capture_default_str();
    one->add_option("-b,--bytes", words->bytes, fmt::format("Size; {}", kSizeUnitsHelp))
        ->type_name(kSizeType)
        ->capture_default_str();
    one->add_option("--hosts", words->question.hosts, "Hosts that share the ranks")
        ->check(CLI::Range(1u, kExplainedRanksMax))
        ->capture_default_str();
    one->add_option("--root", words->question.root, "Root rank, for operations with a root");
    one->add_option("--rank", words->question.rank, "Show the steps of this rank only");
    one->add_flag(
        "--json", words->json,
        "One object: operation, bytes, count, ranks, hosts, root, algorithm; and ways and "
        "block_bytes, or measured, links, candidates and schedules");
    one->callback([words, &chosen] { chosen = [words] { return Run(*words); }; });
  }
}

}  // namespace ringlet::cli
