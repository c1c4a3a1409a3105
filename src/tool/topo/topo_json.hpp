// Formats a machine as JSON. Pure.
#pragma once
#include <string>

#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// Returns {"name", "arch", "processor", "numa_nodes", "pci", "gpus", "nets"}. Each part refers to
/// its parent by bus address, or by "NUMA0". Unknown values are omitted. \pre view.Check() has
/// passed
std::string ViewJson(const topology::HostView& view);

}  // namespace ringlet::cli
