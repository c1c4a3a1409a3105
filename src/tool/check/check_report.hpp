// Verdicts for people: on one machine, or on a fleet by kind of defect. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/check/checked_machine.hpp"

namespace ringlet::cli {

/// \param all  every finding in full, not only the first ones of a rule
std::string MachineReport(const CheckedMachine& machine, bool all);
/// The machines that are not like the others, grouped by kind of defect, the worst kind first.
std::string FleetReport(const std::vector<CheckedMachine>& machines, bool all);

/// A line for each finding, an object each.
std::string CheckJson(const std::vector<CheckedMachine>& machines);

}  // namespace ringlet::cli
