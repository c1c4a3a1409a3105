// Verdicts in the text format of Prometheus, for the textfile collector of the node exporter. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/check/checked_machine.hpp"

namespace ringlet::cli {

/// Returns the gauges of docs/howto/check-machines-in-slurm-and-kubernetes.md, with # HELP and #
/// TYPE.
std::string CheckMetrics(const std::vector<CheckedMachine>& machines);

}  // namespace ringlet::cli
