#include "tool/traffic/traffic_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/value/text.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kTrafficReportVersion = 1;
constexpr double kTrafficNsInUs = 1000;
constexpr double kTrafficMbInGb = 1000;
constexpr double kTrafficPercent = 100;
constexpr std::size_t kTrafficHostsShown = 16;

std::string ShownName(const std::string& name) {
  return Printable(name, kTrafficNameShown);
}

double UsOf(std::uint64_t ns) {
  return static_cast<double>(ns) / kTrafficNsInUs;
}

Json CommunicatorJson(const CommunicatorTraffic& communicator) {
  Json by_rank = Json::array();
  for (const RankTraffic& rank : communicator.by_rank)
    by_rank.push_back({{"rank", rank.rank},
                       {"host", rank.host},
                       {"gpu", rank.gpu},
                       {"sent_bytes", rank.sent_bytes}});
  return {{"communicator", communicator.communicator},
          {"ranks", communicator.ranks},
          {"missing_ranks", communicator.missing},
          {"by_rank", std::move(by_rank)}};
}

Json LinkJson(const TrafficReport& report, const LinkTraffic& link) {
  Json json = {{"host", link.host},
               {"from", link.from},
               {"to", link.to},
               {"kind", link.kind},
               {"mb_per_s", link.mb_per_s},
               {"measured_bytes", link.measured_bytes},
               {"planned_bytes", link.planned_bytes},
               {"time_us", link.time_us()},
               {"load", report.Load(link)}};
  if (link.nominal_mb_per_s != 0) json["nominal_mb_per_s"] = link.nominal_mb_per_s;
  return json;
}

Json CallJson(const CallTraffic& call) {
  Json json = {{"function", call.function}, {"ranks", call.ranks}, {"count", call.count},
               {"bytes", call.bytes},       {"size", call.size()}, {"calls", call.calls}};
  if (!call.algorithm) return json;
  json["algorithm"] = call.algorithm->name;
  json["protocol"] = call.algorithm->protocol;
  json["channels"] = call.algorithm->channels;
  json["predicted_us"] = UsOf(call.algorithm->predicted_ns);
  json["predicted_algbw_gb_s"] = call.algbw();
  json["predicted_busbw_gb_s"] = call.busbw();
  if (!call.algorithm->nccl_name.empty()) {
    json["nccl_algorithm"] = call.algorithm->nccl_name;
    json["nccl_predicted_us"] = UsOf(call.algorithm->nccl_predicted_ns);
    json["nccl_predicted_busbw_gb_s"] = call.nccl_busbw();
  }
  if (call.algorithm->slowed_ns != 0) {
    json["slowed_us"] = UsOf(call.algorithm->slowed_ns);
    json["slowed_busbw_gb_s"] = call.slowed_busbw();
  }
  if (call.slower_calls > 0) json["slower_calls"] = call.slower_calls;
  return json;
}

std::string HeadText(const TrafficReport& report) {
  std::uint64_t ranks = 0;
  for (const CommunicatorTraffic& one : report.communicators) ranks += one.by_rank.size();
  std::string text = fmt::format("# {} of {} on {}\n", Counted(ranks, "rank"),
                                 Counted(report.communicators.size(), "communicator"),
                                 Counted(report.hosts.size(), "host"));
  for (std::uint32_t host = 0; host < report.hosts.size() && host < kTrafficHostsShown; ++host)
    if (!report.hosts[host].name.empty())
      text += fmt::format("# host {}: {}\n", host, ShownName(report.hosts[host].name));
  return text;
}

std::string KindsText(const TrafficReport& report) {
  std::string text = fmt::format("\n{:<6} {:>6} {:>20} {:>20} {:>14}\n", "kind", "links",
                                 "measured (B)", "planned (B)", "busiest (us)");
  for (const auto& [kind, of_kind] : TotalsByKind(report))
    text += fmt::format("{:<6} {:>6} {:>20} {:>20} {:>14.1f}\n", ShownName(kind), of_kind.links,
                        of_kind.measured_bytes, of_kind.planned_bytes, of_kind.busiest_us);
  return text;
}

std::string LinksText(const TrafficReport& report, std::size_t links_max) {
  const std::size_t shown = std::min(links_max, report.links.size());
  if (shown == 0) return "";
  std::string text = fmt::format("\n{:>4} {:<17} {:<17} {:<5} {:>7} {:>14} {:>12} {:>5}\n", "host",
                                 "from", "to", "kind", "GB/s", "bytes", "time (us)", "load");
  for (std::size_t i = 0; i < shown; ++i) {
    const LinkTraffic& link = report.links[i];
    text += fmt::format("{:>4} {:<17} {:<17} {:<5} {:>7.1f} {:>14} {:>12.1f} {:>4.0f}%\n",
                        link.host, ShownName(link.from), ShownName(link.to), ShownName(link.kind),
                        link.mb_per_s / kTrafficMbInGb, link.measured_bytes, link.time_us(),
                        report.Load(link) * kTrafficPercent);
    if (link.nominal_mb_per_s != 0)
      text += fmt::format("{:>4} a slow link: of {:.1f} GB/s\n", "",
                          link.nominal_mb_per_s / kTrafficMbInGb);
  }
  if (shown < report.links.size())
    text += fmt::format("and {}\n", Counted(report.links.size() - shown, "link that is less busy",
                                            "links that are less busy"));
  return text;
}

std::string CallsText(const TrafficReport& report) {
  if (report.calls.empty()) return "";
  std::string text = fmt::format("\n{:<14} {:>5} {:>13} {:>8}  {:<13} {:<6} {:>8} {:>13} {:>8}\n",
                                 "function", "ranks", "size (B)", "calls", "algorithm", "proto",
                                 "channels", "predicted(us)", "busbw");
  for (const CallTraffic& call : report.calls) {
    text += fmt::format("{:<14} {:>5} {:>13} {:>8}", call.function, call.ranks, call.size(),
                        call.calls);
    if (call.algorithm)
      text +=
          fmt::format("  {:<13} {:<6} {:>8} {:>13.1f} {:>8.2f}", ShownName(call.algorithm->name),
                      ShownName(call.algorithm->protocol), call.algorithm->channels,
                      UsOf(call.algorithm->predicted_ns), call.busbw());
    text += '\n';
    if (call.algorithm && !call.algorithm->nccl_name.empty())
      text += fmt::format("{:<14} NCCL itself takes {}: {:.1f} us, busbw {:.2f}\n", "",
                          ShownName(call.algorithm->nccl_name),
                          UsOf(call.algorithm->nccl_predicted_ns), call.nccl_busbw());
    if (call.algorithm && call.algorithm->slowed_ns != 0)
      text += fmt::format("{:<14} with the slow links: {:.1f} us, busbw {:.2f}\n", "",
                          UsOf(call.algorithm->slowed_ns), call.slowed_busbw());
    if (call.slower_calls > 0)
      text += fmt::format("{:<14} {} of these took longer here than predicted\n", "",
                          call.slower_calls);
  }
  return text;
}

std::string FindingsText(const TrafficReport& report) {
  if (report.findings.empty())
    return fmt::format(
        "\nmeasured = planned on {}\n",
        report.links.size() == 1 ? "the link" : fmt::format("all {} links", report.links.size()));
  std::string text = "\n";
  for (const std::string& finding : report.findings) text += fmt::format("found: {}\n", finding);
  if (report.findings_left_out > 0) text += fmt::format("and {} more\n", report.findings_left_out);
  return text;
}

}  // namespace

std::map<std::string, KindTraffic> TotalsByKind(const TrafficReport& report) {
  std::map<std::string, KindTraffic> kinds;
  for (const LinkTraffic& link : report.links) {
    KindTraffic& kind = kinds[link.kind];
    ++kind.links;
    AddBytes(kind.measured_bytes, link.measured_bytes);
    AddBytes(kind.planned_bytes, link.planned_bytes);
    kind.busiest_us = std::max(kind.busiest_us, link.time_us());
  }
  return kinds;
}

std::string BytesText(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  constexpr double kStep = 1000;
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 999.5 would be printed as 1000.
  while (value >= kStep - 0.5 && unit + 1 < kUnits.size()) value /= kStep, ++unit;
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

Json ToJson(const TrafficReport& report) {
  Json hosts = Json::array(), communicators = Json::array(), kinds = Json::array(),
       links = Json::array(), calls = Json::array();
  for (std::uint32_t host = 0; host < report.hosts.size(); ++host)
    hosts.push_back({{"host", host},
                     {"name", report.hosts[host].name},
                     {"identity", report.hosts[host].identity}});
  for (const CommunicatorTraffic& one : report.communicators)
    communicators.push_back(CommunicatorJson(one));
  for (const auto& [kind, of_kind] : TotalsByKind(report))
    kinds.push_back({{"kind", kind},
                     {"links", of_kind.links},
                     {"measured_bytes", of_kind.measured_bytes},
                     {"planned_bytes", of_kind.planned_bytes},
                     {"busiest_us", of_kind.busiest_us}});
  for (const LinkTraffic& link : report.links) links.push_back(LinkJson(report, link));
  for (const CallTraffic& call : report.calls) calls.push_back(CallJson(call));
  return {{"version", kTrafficReportVersion},
          {"findings", report.findings},
          {"findings_left_out", report.findings_left_out},
          {"hosts", std::move(hosts)},
          {"communicators", std::move(communicators)},
          {"kinds", std::move(kinds)},
          {"links", std::move(links)},
          {"calls", std::move(calls)}};
}

std::string ToText(const TrafficReport& report, std::size_t links_max) {
  return HeadText(report) + KindsText(report) + LinksText(report, links_max) + CallsText(report) +
         FindingsText(report);
}

}  // namespace ringlet::cli
