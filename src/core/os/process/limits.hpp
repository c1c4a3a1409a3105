// Limits of this process.
#pragma once
#include <cstdint>
#include <vector>

namespace ringlet::os {

/// Raises the number of descriptors this process may have open to what the system allows it, and
/// gives that number. A root needs one for each rank that checks in.
std::uint64_t RaiseDescriptorLimit();

/// Descriptors that this process has open, and how many it may have.
struct DescriptorUse {
  std::uint64_t open = 0, limit = 0;
};
/// Opens none itself. Cost  one system call, of time proportional to the limit
DescriptorUse CountDescriptors();

/// Cores that this process may run on; at least 1.
std::uint32_t UsableCores();
/// Their numbers, ascending; empty where there are more CPUs than the C library knows.
std::vector<std::uint32_t> UsableCpus();

}  // namespace ringlet::os
