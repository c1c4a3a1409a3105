// A machine as JSON. Pure.
#pragma once
#include <string>

#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// {"name", "arch", "processor", "numa_nodes", "pci", "gpus", "nets"}: each part names what it lies
/// below by its bus address, or "NUMA0". Unknown values are missing. \pre view.Check() has passed
std::string ViewJson(const topology::HostView& view);

}  // namespace ringlet::cli
