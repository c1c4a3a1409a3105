// The emulated machine, as `ringlet emulate` describes it in the environment. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/settings/env_map.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

inline constexpr const char* kDevicesVariable = "RINGLET_EMULATE_DEVICES";
inline constexpr const char* kMemoryVariable = "RINGLET_EMULATE_MEMORY";
inline constexpr const char* kKernelsVariable = "RINGLET_EMULATE_KERNELS";

/// The driver's `visible devices` are at most this many; a PCI bus of its own for each.
inline constexpr std::uint32_t kDevicesMax = 64;
inline constexpr std::uint64_t kMemoryMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 40;

struct Emulation {
  std::uint32_t devices = 1;
  std::uint64_t memory_bytes = 0;    ///< of each device, for each process
  std::vector<std::string> kernels;  ///< paths of libraries with host functions
  bool verbose = false;              ///< each refused call is said, not only those that cannot work
};

/// \param physical_bytes  the memory of this computer; each device has its share, unless the
/// environment
///                        says how much
/// Errors  kInvalidArgument  names the variable and what it may be
Result<Emulation> ReadEmulation(const EnvMap& environment, std::uint64_t physical_bytes);

/// The visible devices, by their numbers among all: CUDA_VISIBLE_DEVICES as CUDA reads it. A list
/// ends at the first entry that is no device.
std::vector<std::uint32_t> VisibleDevices(const EnvMap& environment, std::uint32_t devices);

}  // namespace ringlet::cuda
