#include "tool/peers/init_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/json_object.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

constexpr char kJsonSeparator = 0x1e;

Json ToJson(const Phases& phases) {
  return {{"check_in", phases.check_in},
          {"roster", phases.roster},
          {"connect", phases.connect},
          {"go", phases.go}};
}

Json ToJson(const Repetition& one) {
  return {{"total_ms", one.total_ms},    {"phases_ms", ToJson(one.phases)},
          {"cpu_ms", one.cpu_ms},        {"connections_per_rank", one.connections},
          {"bytes_per_rank", one.bytes}, {"system_calls_per_rank", one.system_calls}};
}

Repetition ReadRepetition(JsonObject& json) {
  Repetition one{.total_ms = json.Real("total_ms"),
                 .phases = {},
                 .cpu_ms = json.Real("cpu_ms"),
                 .connections = json.Real("connections_per_rank"),
                 .bytes = json.Real("bytes_per_rank"),
                 .system_calls = json.Real("system_calls_per_rank")};
  json.Within("phases_ms", [&](JsonObject& phases) {
    one.phases = {.check_in = phases.Real("check_in"),
                  .roster = phases.Real("roster"),
                  .connect = phases.Real("connect"),
                  .go = phases.Real("go")};
  });
  return one;
}

Json ToJson(const PeerRun& run) {
  Json json{{"peer", run.peer}, {"total_ms", nullptr}, {"trouble", run.trouble}};
  if (run.total_ms) json["total_ms"] = *run.total_ms;
  return json;
}

PeerRun ReadPeerRun(JsonObject& json) {
  PeerRun run{.peer = json.Text("peer"), .trouble = json.Text("trouble")};
  if (!json.IsNull("total_ms")) run.total_ms = json.Real("total_ms");
  return run;
}

std::optional<InitMessage> ReadInitMessage(JsonObject& json) {
  if (json.Has("peer")) return ReadPeerRun(json);
  return ReadRepetition(json);
}

// The results of one peer in all repetitions.
struct PeerSummary {
  std::string name;
  std::vector<double> times_ms;
  std::string trouble;
};

std::vector<PeerSummary> PeerSummaries(const std::vector<PeerRun>& runs) {
  std::vector<PeerSummary> summaries;
  for (const PeerRun& run : runs) {
    auto it = std::ranges::find(summaries, run.peer, &PeerSummary::name);
    if (it == summaries.end()) it = summaries.insert(it, {run.peer, {}, {}});
    if (run.total_ms) it->times_ms.push_back(*run.total_ms);
    if (!run.trouble.empty()) it->trouble = run.trouble;
  }
  return summaries;
}

const char* ModeText(const InitHead& head) {
  return head.tree ? "tree" : "ring";
}
const char* RankKindText(const InitHead& head) {
  return head.threads ? "threads" : "processes";
}

// Formats a time with about four digits.
std::string Ms(double ms) {
  return ms >= 1000 ? fmt::format("{:.0f}", ms)
         : ms >= 10 ? fmt::format("{:.1f}", ms)
                    : fmt::format("{:.3f}", ms);
}

std::vector<double> Totals(const std::vector<Repetition>& repetitions) {
  std::vector<double> totals;
  for (const Repetition& one : repetitions) totals.push_back(one.total_ms);
  return totals;
}

}  // namespace

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Repetition MedianOf(const std::vector<Repetition>& repetitions) {
  const auto of = [&](auto value) {
    std::vector<double> values;
    for (const Repetition& one : repetitions) values.push_back(value(one));
    return Median(std::move(values));
  };
  using R = Repetition;
  return {.total_ms = of([](const R& r) { return r.total_ms; }),
          .phases = {.check_in = of([](const R& r) { return r.phases.check_in; }),
                     .roster = of([](const R& r) { return r.phases.roster; }),
                     .connect = of([](const R& r) { return r.phases.connect; }),
                     .go = of([](const R& r) { return r.phases.go; })},
          .cpu_ms = of([](const R& r) { return r.cpu_ms; }),
          .connections = of([](const R& r) { return r.connections; }),
          .bytes = of([](const R& r) { return r.bytes; }),
          .system_calls = of([](const R& r) { return r.system_calls; })};
}

std::string InitHeadText(std::uint32_t iterations) {
  constexpr const char* kForm =
      "# {:>6} {:>4} {:>9} {:>5} | {:>8} {:>8} {:>8} | {:>8} {:>8} {:>8} {:>8} | {:>8} {:>6} {:>7} "
      "{:>8}\n";
  return fmt::format(
             "# ringlet bench init: from the id at every rank to a control network at every "
             "rank\n# medians of {}, after one that warms up\n#\n",
             Counted(iterations, "repetition")) +
         fmt::format(kForm, "", "", "", "", "total", "min", "max", "check-in", "roster", "connect",
                     "go", "cpu", "conns", "bytes", "calls") +
         fmt::format(kForm, "n", "mode", "as", "procs", "(ms)", "(ms)", "(ms)", "(ms)", "(ms)",
                     "(ms)", "(ms)", "(ms)", "/rank", "/rank", "/rank");
}

std::string InitRowText(const InitReport& report) {
  const InitHead& head = report.head;
  const Repetition median = MedianOf(report.repetitions);
  const std::vector<double> totals = Totals(report.repetitions);
  std::string text = fmt::format(
      "{:>8} {:>4} {:>9} {:>5} | {:>8} {:>8} {:>8} | {:>8} {:>8} {:>8} {:>8} | {:>8} {:>6.2f} "
      "{:>7.0f} {:>8.1f}\n",
      head.ranks, ModeText(head), RankKindText(head), head.processes, Ms(median.total_ms),
      Ms(totals.empty() ? 0 : std::ranges::min(totals)),
      Ms(totals.empty() ? 0 : std::ranges::max(totals)), Ms(median.phases.check_in),
      Ms(median.phases.roster), Ms(median.phases.connect), Ms(median.phases.go), Ms(median.cpu_ms),
      median.connections, median.bytes, median.system_calls);
  for (const PeerSummary& peer : PeerSummaries(report.peers)) {
    if (!peer.times_ms.empty())
      text += fmt::format("{:>8} {:>4} {:>9} {:>5} | {:>8} {:>8} {:>8} | {:.1f} times ours\n",
                          head.ranks, peer.name, RankKindText(head), "", Ms(Median(peer.times_ms)),
                          Ms(std::ranges::min(peer.times_ms)), Ms(std::ranges::max(peer.times_ms)),
                          median.total_ms > 0 ? Median(peer.times_ms) / median.total_ms : 0);
    if (!peer.trouble.empty()) text += fmt::format("# {}: {}\n", peer.name, peer.trouble);
  }
  return text;
}

std::string InitJson(const InitReport& report) {
  const std::vector<double> totals = Totals(report.repetitions);
  Json json{{"op", "init"},
            {"n", report.head.ranks},
            {"mode", ModeText(report.head)},
            {"as", RankKindText(report.head)},
            {"processes", report.head.processes},
            {"check_in", report.head.together ? "leaders" : "each"},
            {"roots", report.head.roots}};
  json.update(ToJson(MedianOf(report.repetitions)));
  json["min_ms"] = totals.empty() ? 0 : std::ranges::min(totals);
  json["max_ms"] = totals.empty() ? 0 : std::ranges::max(totals);
  json["repetitions"] = Json::array();
  for (const Repetition& one : report.repetitions) json["repetitions"].push_back(ToJson(one));
  json["vs"] = Json::object();
  for (const PeerSummary& peer : PeerSummaries(report.peers)) {
    Json& entry =
        json["vs"][peer.name] = {{"total_ms", nullptr}, {"repetitions_ms", peer.times_ms}};
    if (!peer.times_ms.empty()) entry["total_ms"] = Median(peer.times_ms);
    if (!peer.trouble.empty()) entry["trouble"] = peer.trouble;
  }
  return JsonText(json, JsonLayout::kLine);
}

std::string ToLine(const InitMessage& message) {
  return kJsonSeparator + std::visit([](const auto& one) { return ToJson(one); }, message).dump();
}

Result<std::optional<InitMessage>> ParseInitLine(std::string_view line) {
  if (!line.starts_with(kJsonSeparator)) return std::optional<InitMessage>();
  return ReadJson(line.substr(1), {Code::kProtocol, "a worker's report cannot be read"},
                  ReadInitMessage);
}

}  // namespace ringlet::cli
