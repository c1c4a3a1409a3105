// Limits of this process.
#pragma once
#include <cstdint>

namespace ringlet::os {

/// Raises the number of descriptors this process may have open to what the system allows it, and
/// gives that number. A root needs one for each rank that checks in.
std::uint64_t RaiseDescriptorLimit();

/// Cores that this process may run on; at least 1.
std::uint32_t UsableCores();

}  // namespace ringlet::os
