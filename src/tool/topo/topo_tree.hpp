// A machine as a tree for people, as lstopo prints it. Pure.
#pragma once
#include <string>
#include <string_view>

#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// One line for each NUMA node, PCI function, GPU, link and interface, with how fast it is joined
/// to what is above it; then the ways between NUMA nodes. \pre view.Check() has passed
std::string TreeText(const topology::HostView& view);

/// "switch", "GPU", ...
std::string_view RoleName(topology::PciRole role);

/// "24 GB/s", "12.5 GB/s", "250 MB/s"
std::string SpeedText(std::uint64_t mb_per_s);

}  // namespace ringlet::cli
