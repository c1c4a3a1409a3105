// The verdicts in Prometheus's text format, for the node exporter's textfile collector. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/check/checked_machine.hpp"

namespace ringlet::cli {

/// Gauges, with # HELP and # TYPE; docs/howto/check-machines-in-slurm-and-kubernetes.md has them.
std::string CheckMetrics(const std::vector<CheckedMachine>& machines);

}  // namespace ringlet::cli
