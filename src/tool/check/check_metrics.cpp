#include "tool/check/check_metrics.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "tool/check/gauge.hpp"

namespace ringlet::cli {
namespace {

using topology::Defect;
using topology::Severity;

constexpr std::uint64_t kBytesOfAMegabyte = 1'000'000;

std::string FindingsGauge(const std::vector<CheckedMachine>& machines) {
  Gauge gauge("ringlet_topo_check_findings", "Findings of ringlet topo check by rule.");
  for (const CheckedMachine& machine : machines) {
    std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> counts;
    for (const Defect& defect : machine.defects)
      ++counts[{std::string(defect.lint_rule.empty() ? defect.rule->word : defect.lint_rule),
                std::string(SeverityName(defect.severity)),
                std::string(NameOf(defect.rule->remedy))}];
    for (const auto& [kind, count] : counts)
      gauge.Add({{"machine", machine.title},
                 {"rule", std::get<0>(kind)},
                 {"severity", std::get<1>(kind)},
                 {"action", std::get<2>(kind)}},
                count);
  }
  return gauge.text();
}

std::string LostGauge(const std::vector<CheckedMachine>& machines) {
  Gauge gauge("ringlet_topo_check_lost_bytes_per_second",
              "Bus bandwidth of a planned all-reduce that one finding costs.");
  for (const CheckedMachine& machine : machines)
    for (std::size_t i = 0; i < machine.defects.size(); ++i) {
      const auto& cost = machine.costs.each[i];
      const Defect& defect = machine.defects[i];
      if (!cost) continue;
      gauge.Add({{"machine", machine.title},
                 {"rule", std::string(defect.rule->word)},
                 {"where", defect.where},
                 {"name", defect.name},
                 {"hosts", fmt::format("{}", cost->hosts)}},
                cost->lost().mb_per_s * kBytesOfAMegabyte);
    }
  return gauge.text();
}

}  // namespace

std::string CheckMetrics(const std::vector<CheckedMachine>& machines) {
  Gauge verdict("ringlet_topo_check_verdict", "1 if the machine could be judged, else 0.");
  Gauge worst("ringlet_topo_check_severity",
              "The worst finding of a machine: 0 none, 1 note, 2 warning, 3 error.");
  Gauge together("ringlet_topo_check_together_lost_bytes_per_second",
                 "Bus bandwidth of a planned all-reduce that all findings of a machine cost.");
  for (const CheckedMachine& machine : machines) {
    verdict.Add({{"machine", machine.title}}, machine.refusal.empty() ? 1 : 0);
    const std::optional<Severity> severity = machine.worst();
    if (machine.refusal.empty())
      worst.Add({{"machine", machine.title}},
                severity ? static_cast<std::uint64_t>(*severity) + 1 : 0);
    if (const auto& cost = machine.costs.together)
      together.Add({{"machine", machine.title}, {"hosts", fmt::format("{}", cost->hosts)}},
                   cost->lost().mb_per_s * kBytesOfAMegabyte);
  }
  return verdict.text() + worst.text() + FindingsGauge(machines) + LostGauge(machines) +
         together.text();
}

}  // namespace ringlet::cli
