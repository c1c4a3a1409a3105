// Formats a machine as JSON. Pure.
#pragma once
#include <string>

#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// Returns {"name", "arch", "processor", "numa_nodes", "pci", "gpus", "nets"}. A part names its
/// parent by bus address or "NUMA0". Unknown values are omitted. \pre view.Check() has passed
std::string ViewJson(const topology::HostView& view);

}  // namespace ringlet::cli
