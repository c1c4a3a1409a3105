// Formats verdicts for people: on one machine, or on a fleet by kind of defect. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/check/checked_machine.hpp"

namespace ringlet::cli {

/// \param all  print every finding in full, not only the first ones of each rule
std::string MachineReport(const CheckedMachine& machine, bool all);
/// Lists the machines that differ from the others, grouped by kind of defect, worst kind first.
std::string FleetReport(const std::vector<CheckedMachine>& machines, bool all);

/// Returns one JSON object per line for each finding.
std::string CheckJson(const std::vector<CheckedMachine>& machines);

}  // namespace ringlet::cli
