#include "tool/doctor/doctor_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "tool/check/gauge.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

using doctor::CheckReport;
using doctor::FindingVerdict;
using doctor::HostFinding;
using doctor::PairFacts;
using doctor::SetFacts;

constexpr std::size_t kDoctorFindingsShown = 8;  // findings of one check
constexpr std::string_view kFindingMargin = "                      ";

struct Named {
  std::string_view check;
  const HostFinding* finding;
};

std::vector<Named> WorstFirst(const std::vector<CheckReport>& checks) {
  std::vector<Named> all;
  for (const CheckReport& check : checks)
    for (const HostFinding& finding : check.findings) all.push_back({check.check, &finding});
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const Named& one) { return one.finding->verdict; });
  return all;
}

/// Removes control characters, because texts of other hosts must not control the terminal.
std::string Shown(std::string_view text) {
  constexpr std::size_t kShownMax = 1000;
  return Printable(text, kShownMax);
}

std::string FindingText(const Named& named) {
  const HostFinding& finding = *named.finding;
  std::string text =
      fmt::format("{:<8} {:<12} {}{}{}\n", NameOf(finding.verdict), named.check,
                  Shown(finding.host), finding.host.empty() ? "" : ": ", Shown(finding.reason));
  if (!finding.cost.empty())
    text += fmt::format("{}costs: {}\n", kFindingMargin, Shown(finding.cost));
  if (!finding.cure.empty())
    text += fmt::format("{}to do: {}\n", kFindingMargin, Shown(finding.cure));
  return text;
}

std::string FindingsText(const std::vector<CheckReport>& checks, bool all) {
  std::string text;
  std::map<std::string_view, std::size_t> shown;
  for (const Named& named : WorstFirst(checks))
    if (all || ++shown[named.check] <= kDoctorFindingsShown) text += FindingText(named);
  for (const auto& [check, count] : shown)
    if (count > kDoctorFindingsShown)
      text += fmt::format("{:<8} {:<12} and {} more; --all shows them\n", "", check,
                          count - kDoctorFindingsShown);
  return text;
}

std::string SumText(const std::vector<CheckReport>& checks, const SetFacts& facts) {
  std::map<FindingVerdict, std::size_t> counts;
  for (const CheckReport& check : checks)
    for (const HostFinding& finding : check.findings) ++counts[finding.verdict];
  std::string text = Counted(facts.hosts.size() + facts.silent.size(), "host") + ": ";
  if (counts.empty()) return text + "nothing found\n";
  std::vector<std::string> parts;
  for (const FindingVerdict verdict :
       {FindingVerdict::kError, FindingVerdict::kWarning, FindingVerdict::kNote})
    if (counts.contains(verdict)) parts.push_back(Counted(counts[verdict], NameOf(verdict)));
  return text + fmt::format("{}\n", fmt::join(parts, ", "));
}

std::string InterfacesText(const SetFacts& facts) {
  std::string text;
  for (const doctor::HostFacts& host : facts.hosts) {
    text += fmt::format("\n{}\n", Shown(host.host));
    for (const doctor::InterfaceReport& one : host.interfaces)
      text += fmt::format(
          "  {:<4} {:<16} mtu {:<6} {}{}: {}\n", one.place ? std::to_string(*one.place + 1) : "-",
          Shown(one.name), one.mtu_bytes, one.addresses.empty() ? "" : Shown(one.addresses.front()),
          one.mbit_per_s ? fmt::format(", {} Mbit/s", *one.mbit_per_s) : "", Shown(one.why));
  }
  return text;
}

std::string PairsText(const SetFacts& facts) {
  constexpr double kMicrosecond = 1e3;
  std::string text;
  for (const PairFacts& pair : facts.measured)
    text += fmt::format("  {} to {} ({}): {:.0f} us, {}, packets of {}\n",
                        Shown(facts.hosts[pair.from].host), Shown(facts.hosts[pair.to].host),
                        Shown(pair.address), static_cast<double>(pair.latency_ns) / kMicrosecond,
                        doctor::RateText(pair.bytes_per_s), pair.passed_bytes);
  return text.empty() ? "" : "\npairs\n" + text;
}

nlohmann::ordered_json FindingJson(const Named& named) {
  const HostFinding& finding = *named.finding;
  return {{"check", named.check},        {"verdict", NameOf(finding.verdict)},
          {"host", finding.host},        {"reason", finding.reason},
          {"cost", finding.cost},        {"cure", finding.cure},
          {"evidence", finding.evidence}};
}

}  // namespace

std::string DoctorText(const std::vector<CheckReport>& checks, const SetFacts& facts, bool all) {
  std::string text = FindingsText(checks, all);
  for (const CheckReport& check : checks)
    if (check.findings.empty())
      text += fmt::format("{:<8} {:<12} {}\n", NameOf(FindingVerdict::kOk), check.check,
                          Shown(check.seen));
  if (all) text += InterfacesText(facts) + PairsText(facts) + "\n";
  return text + SumText(checks, facts);
}

std::string DoctorJson(const std::vector<CheckReport>& checks, const SetFacts& facts) {
  std::string text;
  for (const Named& named : WorstFirst(checks))
    text += JsonText(FindingJson(named), JsonLayout::kLine);
  for (const CheckReport& check : checks)
    if (check.findings.empty())
      text += JsonText({{"check", check.check}, {"verdict", "ok"}, {"seen", check.seen}},
                       JsonLayout::kLine);
  for (const doctor::HostFacts& host : facts.hosts)
    text += JsonText({{"facts", nlohmann::ordered_json::parse(ToJson(host))}}, JsonLayout::kLine);
  for (const PairFacts& pair : facts.measured)
    text += JsonText({{"from", facts.hosts[pair.from].host},
                      {"to", facts.hosts[pair.to].host},
                      {"address", pair.address},
                      {"latency_ns", pair.latency_ns},
                      {"bytes_per_s", pair.bytes_per_s},
                      {"mtu_bytes", pair.mtu_bytes},
                      {"passed_bytes", pair.passed_bytes}},
                     JsonLayout::kLine);
  return text;
}

std::string DoctorMetrics(const std::vector<CheckReport>& checks, const SetFacts& facts) {
  Gauge verdicts("ringlet_doctor_verdict", "The worst finding of a check: 0 ok to 3 error.");
  Gauge findings("ringlet_doctor_findings", "Findings by check, host and verdict.");
  Gauge answered("ringlet_doctor_host_answered", "1 if the host answered, else 0.");
  Gauge rates("ringlet_doctor_rate_bytes_per_second",
              "Rate of one connection while all hosts measure at once.");
  Gauge latencies("ringlet_doctor_latency_nanoseconds", "Latency of the fastest round trip.");
  std::map<std::array<std::string, 3>, std::uint64_t> counts;
  for (const CheckReport& check : checks) {
    verdicts.Add({{"check", std::string(check.check)}}, static_cast<std::uint64_t>(check.worst()));
    for (const HostFinding& finding : check.findings)
      ++counts[{std::string(check.check), finding.host, std::string(NameOf(finding.verdict))}];
  }
  for (const auto& [labels, count] : counts)
    findings.Add({{"check", labels[0]}, {"host", labels[1]}, {"verdict", labels[2]}}, count);
  for (const doctor::HostFacts& host : facts.hosts) answered.Add({{"host", host.host}}, 1);
  for (const SetFacts::SilentHost& silent : facts.silent) answered.Add({{"host", silent.host}}, 0);
  for (const PairFacts& pair : facts.measured) {
    const std::vector<std::pair<std::string_view, std::string>> labels = {
        {"from", facts.hosts[pair.from].host},
        {"to", facts.hosts[pair.to].host},
        {"nic", std::to_string(pair.nic)}};
    rates.Add(labels, pair.bytes_per_s);
    latencies.Add(labels, pair.latency_ns);
  }
  return verdicts.text() + findings.text() + answered.text() + rates.text() + latencies.text();
}

}  // namespace ringlet::cli
