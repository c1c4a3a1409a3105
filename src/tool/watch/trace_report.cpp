#include "tool/watch/trace_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "watch/findings.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;
using watch::RankTrace;

constexpr std::size_t kLateShown = 5;
constexpr std::size_t kRanksShown = 64;

TraceReport ReportOf(std::vector<RankTrace> traces) {
  TraceReport report{.communicator = traces.front().communicator, .traces = std::move(traces)};
  std::vector<watch::RankState> states;
  for (const RankTrace& trace : report.traces) {
    report.ranks = std::max(report.ranks, trace.ranks);
    states.push_back(StateOf(trace));
  }
  report.shifts = AlignClocks(report.traces);
  report.divergence = FirstDivergence(report.traces);
  report.findings = FindingsOf(states, report.ranks);
  report.lateness = LatenessOf(report.traces, report.shifts);
  return report;
}

std::string LastText(const RankTrace& trace) {
  if (trace.operations.empty()) return "no operation";
  return fmt::format("{} {}", Name(trace.operations.back().progress),
                     ToText(trace.operations.back()));
}

std::string ClockText(const TraceReport& report) {
  std::map<std::string, const watch::ClockShift*> hosts;
  for (std::size_t i = 0; i < report.traces.size(); ++i)
    if (report.traces[i].host_hash != report.traces.front().host_hash)
      hosts.emplace(report.traces[i].host, &report.shifts[i]);
  std::string text;
  for (const auto& [host, shift] : hosts)
    text += fmt::format("clock of {}: {}\n", host,
                        shift->error
                            ? fmt::format("compared within {}", watch::DurationText(*shift->error))
                            : "not adjusted: no common operation was timed");
  return text;
}

std::string LatenessText(const watch::Lateness& lateness) {
  if (lateness.compared == 0) return "";
  std::string text =
      fmt::format("last to begin, of {} that {} timed:\n", Counted(lateness.compared, "collective"),
                  lateness.compared == 1 ? "was" : "were");
  for (std::size_t i = 0; i < std::min(lateness.ranks.size(), kLateShown); ++i) {
    const watch::RankLateness& rank = lateness.ranks[i];
    text += fmt::format("  rank {:<6} {} times, {} in all\n", rank.rank, rank.times_last,
                        watch::DurationText(rank.late));
  }
  text += "operations that waited longest for their last rank:\n";
  for (std::size_t i = 0; i < std::min(lateness.operations.size(), kLateShown); ++i) {
    const watch::LateOperation& one = lateness.operations[i];
    text += fmt::format("  {:>8} for rank {}: {}\n", watch::DurationText(one.late), one.rank,
                        ToText(one.call));
  }
  return text;
}

}  // namespace

std::vector<TraceReport> ReportTraces(std::vector<RankTrace> traces) {
  std::map<std::string, std::map<std::uint32_t, RankTrace>> communicators;
  for (RankTrace& trace : traces) {
    auto& ranks = communicators[trace.communicator];
    const auto it = ranks.find(trace.rank);
    if (it == ranks.end() || it->second.taken_unix < trace.taken_unix)
      ranks.insert_or_assign(trace.rank, std::move(trace));
  }
  std::vector<TraceReport> reports;
  for (auto& [communicator, ranks] : communicators) {
    std::vector<RankTrace> of_one;
    for (auto& [rank, trace] : ranks) of_one.push_back(std::move(trace));
    reports.push_back(ReportOf(std::move(of_one)));
  }
  return reports;
}

std::string ToText(const TraceReport& report) {
  std::string text =
      fmt::format("communicator {}, {}, {}\n", report.communicator, Counted(report.ranks, "rank"),
                  Counted(report.traces.size(), "trace"));
  for (std::size_t i = 0; i < std::min(report.traces.size(), kRanksShown); ++i)
    text += fmt::format("  {}: {}\n", Describe(report.traces[i]), LastText(report.traces[i]));
  if (report.traces.size() > kRanksShown)
    text += fmt::format("  and {}\n", Counted(report.traces.size() - kRanksShown, "more"));
  text += report.divergence ? "first divergence: " + ToText(*report.divergence) + "\n"
                            : "no divergence: the ranks called the same collectives\n";
  for (const std::string& finding : report.findings) text += "! " + finding + "\n";
  return text + ClockText(report) + LatenessText(report.lateness);
}

namespace {

Json DivergenceJson(const watch::Divergence& divergence) {
  Json groups = Json::array();
  for (const auto& group : divergence.groups)
    groups.push_back({{"ranks", group.ranks},
                      {"call", group.call ? watch::OperationJson(*group.call) : Json(nullptr)}});
  return {{"operation", divergence.sequence},
          {"text", ToText(divergence)},
          {"groups", std::move(groups)}};
}

Json LatenessJson(const watch::Lateness& lateness) {
  Json ranks = Json::array(), operations = Json::array();
  for (const watch::RankLateness& rank : lateness.ranks)
    ranks.push_back(
        {{"rank", rank.rank}, {"times_last", rank.times_last}, {"late_ns", rank.late.count()}});
  for (const watch::LateOperation& one : lateness.operations)
    operations.push_back({{"rank", one.rank},
                          {"late_ns", one.late.count()},
                          {"took_ns", one.took.count()},
                          {"call", watch::OperationJson(one.call)}});
  return {{"compared", lateness.compared},
          {"ranks", std::move(ranks)},
          {"operations", std::move(operations)}};
}

}  // namespace

std::string ToJson(const std::vector<TraceReport>& reports) {
  Json list = Json::array();
  for (const TraceReport& report : reports) {
    Json ranks = Json::array();
    for (std::size_t i = 0; i < report.traces.size(); ++i) {
      const RankTrace& trace = report.traces[i];
      const watch::ClockShift& shift = report.shifts[i];
      ranks.push_back(
          {{"rank", trace.rank},
           {"host", trace.host},
           {"pid", trace.pid},
           {"begun", trace.begun},
           {"done", trace.done},
           {"failure", trace.failure},
           {"last", trace.operations.empty() ? Json(nullptr)
                                             : watch::OperationJson(trace.operations.back())},
           {"clock_shift_ns", shift.shift.count()},
           {"clock_error_ns", shift.error ? Json(shift.error->count()) : Json(nullptr)}});
    }
    list.push_back(
        {{"communicator", report.communicator},
         {"ranks", report.ranks},
         {"traces", std::move(ranks)},
         {"divergence", report.divergence ? DivergenceJson(*report.divergence) : Json(nullptr)},
         {"findings", report.findings},
         {"lateness", LatenessJson(report.lateness)}});
  }
  return JsonText(list);
}

}  // namespace ringlet::cli
