// Formats a machine as a tree for people, as lstopo does. Pure.
#pragma once
#include <string>
#include <string_view>

#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// Returns a line for each NUMA node, PCI function, GPU, link and interface, with the bandwidth to
/// its parent. The links between NUMA nodes follow. \pre view.Check() has passed
std::string TreeText(const topology::HostView& view);

/// Returns "switch", "GPU", ...
std::string_view RoleName(topology::PciRole role);

/// Formats a bandwidth: "24 GB/s", "12.5 GB/s", "250 MB/s".
std::string SpeedText(std::uint64_t mb_per_s);

}  // namespace ringlet::cli
