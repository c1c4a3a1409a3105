// Verdicts in the text format of Prometheus, for the textfile collector of the node exporter. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/check/checked_machine.hpp"

namespace ringlet::cli {

/// Returns gauges with # HELP and # TYPE. docs/howto/check-machines-in-slurm-and-kubernetes.md
/// describes them.
std::string CheckMetrics(const std::vector<CheckedMachine>& machines);

}  // namespace ringlet::cli
