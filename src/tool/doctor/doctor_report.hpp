// The report of a doctor, for people and programs. Pure.
#pragma once
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "doctor/finding.hpp"

namespace ringlet::cli {

/// Findings first, the worst first, then a line for each check without any, and a line that sums
/// up. \param all  every finding of a check, not only the first ones; each host's interfaces, each
/// pair
std::string DoctorText(const std::vector<doctor::CheckReport>& checks,
                       const doctor::SetFacts& facts, bool all);

/// A line for each finding, one for each check without any, then the facts of each host and of each
/// pair: an object each.
std::string DoctorJson(const std::vector<doctor::CheckReport>& checks,
                       const doctor::SetFacts& facts);

/// Gauges in Prometheus's text format.
std::string DoctorMetrics(const std::vector<doctor::CheckReport>& checks,
                          const doctor::SetFacts& facts);

}  // namespace ringlet::cli
