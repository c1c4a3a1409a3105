// Formats the report of a doctor for people and for programs. Pure.
#pragma once
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "doctor/finding.hpp"

namespace ringlet::cli {

/// Lists all findings, worst first, then one line for each check without a finding, then a summary.
/// \param all  list every finding of a check, the interfaces of each host, and each pair
std::string DoctorText(const std::vector<doctor::CheckReport>& checks,
                       const doctor::SetFacts& facts, bool all);

/// Returns one JSON object per line: for each finding, for each check without a finding, for the
/// facts of each host, and for each pair.
std::string DoctorJson(const std::vector<doctor::CheckReport>& checks,
                       const doctor::SetFacts& facts);

/// Returns gauges in the text format of Prometheus.
std::string DoctorMetrics(const std::vector<doctor::CheckReport>& checks,
                          const doctor::SetFacts& facts);

}  // namespace ringlet::cli
