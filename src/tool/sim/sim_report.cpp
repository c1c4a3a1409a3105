#include "tool/sim/sim_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/quantity.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFailuresShown = 12;
constexpr std::size_t kRangesBytesShown = 60;
constexpr std::size_t kPhaseBytesShown = 300;

double VirtualMilliseconds(Instant time) {
  return static_cast<double>(time.count()) / 1e6;
}

std::string TimeText(const std::optional<Instant>& time) {
  return time ? fmt::format("{:.3f}", VirtualMilliseconds(*time)) : "-";
}

std::string BytesText(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 10'000'000'000) return fmt::format("{:.1f}G", value / 1e9);
  if (bytes >= 10'000'000) return fmt::format("{:.1f}M", value / 1e6);
  if (bytes >= 10'000) return fmt::format("{:.1f}k", value / 1e3);
  return fmt::format("{}", bytes);
}

std::string ShortRanges(const std::vector<std::uint32_t>& ranks) {
  std::string text = bootstrap::RangesText(ranks);
  if (text.size() <= kRangesBytesShown) return text;
  text.resize(text.rfind(',', kRangesBytesShown));
  return text + ",...";
}

Json JsonTime(const std::optional<Instant>& time) {
  return time ? Json(VirtualMilliseconds(*time)) : Json(nullptr);
}

Json JsonTraffic(const sim::Traffic& traffic) {
  return {
      {"bytes_sent", traffic.bytes_sent},       {"bytes_received", traffic.bytes_received},
      {"messages_sent", traffic.messages_sent}, {"messages_received", traffic.messages_received},
      {"connections_dialled", traffic.dialled}, {"connections_accepted", traffic.accepted}};
}

Json JsonFailures(const SimRow& row) {
  Json failures = Json::array();
  for (const SimFailure& failure : row.failures)
    failures.push_back({{"text", failure.text},
                        {"count", failure.ranks.size()},
                        {"ranks", bootstrap::RangesText(failure.ranks)},
                        {"first_ms", VirtualMilliseconds(failure.first)},
                        {"last_ms", VirtualMilliseconds(failure.last)}});
  return failures;
}

Json JsonRow(const SimRow& row) {
  Json host{{"host", row.busiest_host_index},
            {"bytes_sent", row.busiest_host.bytes_sent},
            {"bytes_received", row.busiest_host.bytes_received}};
  Json rank = JsonTraffic(row.busiest_rank);
  rank["rank"] = row.busiest_rank_index;
  return {{"n", row.ranks},
          {"hosts", row.hosts},
          {"standing", row.standing},
          {"failed", row.failed},
          {"killed", row.killed},
          {"absent", row.absent},
          {"waiting", row.waiting},
          {"steps", row.steps},
          {"steps_aim", StepsTarget(row.ranks)},
          {"total_ms", JsonTime(row.phases.standing)},
          {"phases_ms",
           {{"checked_in", JsonTime(row.phases.checked_in)},
            {"roster_first", JsonTime(row.phases.roster_first)},
            {"roster_last", JsonTime(row.phases.roster_last)},
            {"connected", JsonTime(row.phases.connected)},
            {"standing", JsonTime(row.phases.standing)}}},
          {"root", JsonTraffic(row.root)},
          {"root_bytes_per_host", row.RootBytesPerHost()},
          {"busiest_rank", std::move(rank)},
          {"busiest_host", std::move(host)},
          {"bytes", row.bytes},
          {"events", row.events},
          {"trace", fmt::format("{:016x}", row.trace)},
          {"wall_s", VirtualMilliseconds(row.wall) / 1e3},
          {"memory_bytes", row.memory_bytes},
          {"failures", JsonFailures(row)},
          {"failures_unsaid", row.failures_unsaid}};
}

std::string BandwidthText(std::uint64_t mb_per_s) {
  if (mb_per_s == 0) return "unlimited bandwidth";
  return fmt::format("{:g} Gb/s", static_cast<double>(mb_per_s) * 8 / 1000);
}

}  // namespace

double SimRow::RootBytesPerHost() const {
  return hosts == 0 ? 0 : static_cast<double>(RootBytes()) / hosts;
}

double StepsTarget(std::uint32_t ranks) {
  return 6 * std::log2(static_cast<double>(ranks));
}

std::string SimHeadText(const SimOptions& options) {
  const bool tree = options.shape == bootstrap::Shape::kTree;
  std::string text = fmt::format(
      "# ringlet sim init: {}, {}, {}; between hosts {} and {} a card, inside one {}; seed "
      "{}\n",
      tree ? fmt::format("tree of arity {}", options.arity) : std::string("ring"),
      options.hosts == 0 ? Counted(options.ranks_per_host, "rank") + " a host"
                         : Counted(options.hosts, "host"),
      Counted(options.roots, "root"), DurationText(options.latency),
      BandwidthText(options.mb_per_s), DurationText(options.local_latency), options.seed);
  if (options.cpu_per_event != Instant(0) || options.cpu_per_kib != Instant(0))
    text += fmt::format("# an event costs {}, and {} a KiB received\n",
                        DurationText(options.cpu_per_event), DurationText(options.cpu_per_kib));
  if (options.faults.any()) text += fmt::format("# faults: {}\n", options.faults_text);
  return text + fmt::format(
                    "# times in ms after the start; steps: the longest chain of messages; "
                    "bytes sent and received\n#\n"
                    "# {:>7} {:>7} {:>5} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} "
                    "{:>9} {:>9} {:>9} {:>8} {:>7} {:>7}\n"
                    "# {:>7} {:>7} {:>5} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} "
                    "{:>9} {:>9} {:>9} {:>8} {:>7} {:>7}\n",
                    "ranks", "hosts", "steps", "6log2N", "last", "first", "last", "all", "all",
                    "bytes", "bytes", "messages", "busiest", "busiest", "events", "wall",
                    "memory",  //
                    "", "", "", "", "check-in", "roster", "roster", "connected", "standing",
                    "at root", "a host", "at root", "rank", "host", "", "(s)", "(MB)");
}

std::string SimRowText(const SimRow& row) {
  const SimPhases& phases = row.phases;
  return fmt::format(
      "{:>9} {:>7} {:>5} {:>6.1f} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8.0f} {:>9} {:>9} {:>9} "
      "{:>8} {:>7.2f} {:>7}\n",
      row.ranks, row.hosts, row.steps, StepsTarget(row.ranks), TimeText(phases.checked_in),
      TimeText(phases.roster_first), TimeText(phases.roster_last), TimeText(phases.connected),
      TimeText(phases.standing), BytesText(row.RootBytes()), row.RootBytesPerHost(),
      std::uint64_t{row.root.messages_sent} + row.root.messages_received,
      BytesText(row.busiest_rank.bytes_sent + row.busiest_rank.bytes_received),
      BytesText(row.busiest_host.bytes_sent + row.busiest_host.bytes_received),
      BytesText(row.events), VirtualMilliseconds(row.wall) / 1e3, row.memory_bytes / 1'000'000);
}

std::string SimFailuresText(const SimRow& row) {
  if (row.standing == row.ranks) return "";
  std::string text = fmt::format(
      "#   of {}: {} completed, {} failed, {} were killed, {} never started, {} still wait\n",
      Counted(row.ranks, "rank"), row.standing, row.failed, row.killed, row.absent, row.waiting);
  for (std::size_t i = 0; i < std::min(kFailuresShown, row.failures.size()); ++i) {
    const SimFailure& failure = row.failures[i];
    text += fmt::format("#   {} x from {:.3f} to {:.3f} ms, rank{} {}: {}\n", failure.ranks.size(),
                        VirtualMilliseconds(failure.first), VirtualMilliseconds(failure.last),
                        failure.ranks.size() == 1 ? "" : "s", ShortRanges(failure.ranks),
                        Printable(failure.text, kPhaseBytesShown));
  }
  if (row.failures.size() > kFailuresShown || row.failures_unsaid > 0)
    text += fmt::format("#   and more failures: --json lists the first {}\n", row.failures.size());
  return text;
}

std::string SimJson(const SimOptions& options, const std::vector<SimRow>& rows) {
  Json json{{"mode", options.shape == bootstrap::Shape::kTree ? "tree" : "ring"},
            {"arity", options.arity},
            {"roots", options.roots},
            {"latency_us", VirtualMilliseconds(options.latency) * 1e3},
            {"jitter_us", VirtualMilliseconds(options.jitter) * 1e3},
            {"local_latency_us", VirtualMilliseconds(options.local_latency) * 1e3},
            {"mb_per_s", options.mb_per_s},
            {"cpu_per_event_us", VirtualMilliseconds(options.cpu_per_event) * 1e3},
            {"cpu_per_kib_us", VirtualMilliseconds(options.cpu_per_kib) * 1e3},
            {"spread_ms", VirtualMilliseconds(options.spread)},
            {"timeout_ms", VirtualMilliseconds(options.timeout)},
            {"faults", options.faults_text},
            {"seed", options.seed},
            {"rows", Json::array()}};
  for (const SimRow& row : rows) json["rows"].push_back(JsonRow(row));
  return JsonText(json);
}

Status SimVerdict(const SimOptions& options, const SimRow& row) {
  if (!options.faults.any() && row.standing < row.ranks)
    return Error{Code::kProtocol,
                 fmt::format("only {} of {} completed in a run without faults{}", row.standing,
                             Counted(row.ranks, "rank"),
                             row.failures.empty()
                                 ? ""
                                 : "; " + Printable(row.failures.front().text, kPhaseBytesShown))};
  if (options.until == Instant(0) && row.waiting > 0)
    return Error{Code::kProtocol,
                 fmt::format("{} of {} still wait after {}", row.waiting,
                             Counted(row.ranks, "rank"), DurationText(options.Limit()))};
  return Ok();
}

}  // namespace ringlet::cli
