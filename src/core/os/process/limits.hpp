// Limits of this process.
#pragma once
#include <cstdint>
#include <vector>

namespace ringlet::os {

/// Raises the descriptor limit of this process to the system's maximum, and returns it. A root
/// needs one descriptor for each rank that checks in.
std::uint64_t RaiseDescriptorLimit();

/// Number of open descriptors of this process, and its limit.
struct DescriptorUse {
  std::uint64_t open = 0, limit = 0;
};
/// Does not open a descriptor itself. Cost  one system call, of time proportional to the limit
DescriptorUse CountDescriptors();

/// Number of cores that this process may run on; at least 1.
std::uint32_t UsableCores();
/// The numbers of these CPUs, ascending. Empty if the C library supports fewer than the host has.
std::vector<std::uint32_t> UsableCpus();

}  // namespace ringlet::os
