// The emulated machine, as `ringlet emulate` describes it in the environment. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/settings/env_map.hpp"
#include "emulate/host/machine_facts.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

inline constexpr const char* kDevicesVariable = "RINGLET_EMULATE_DEVICES";
inline constexpr const char* kMemoryVariable = "RINGLET_EMULATE_MEMORY";
inline constexpr const char* kKernelsVariable = "RINGLET_EMULATE_KERNELS";
/// The number of the emulated host that this process is on.
inline constexpr const char* kHostVariable = "RINGLET_EMULATE_HOST";
/// The path of the machine's topology file.
inline constexpr const char* kMachineVariable = "RINGLET_MACHINE";

/// The driver's `visible devices` are at most this many; a PCI bus of its own for each.
inline constexpr std::uint32_t kDevicesMax = 64;
inline constexpr std::uint32_t kHostsMax = 4096;
inline constexpr std::uint64_t kMemoryMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 40;

struct Emulation {
  MachineFacts machine = MachineFacts::Plain(1, 0);
  std::uint64_t memory_bytes = 0;    ///< of each device, for each process
  bool memory_of_model = false;      ///< a device tells of its model's memory, where that is known
  std::vector<std::string> kernels;  ///< paths of libraries with host functions
  bool verbose = false;              ///< each refused call is said, not only those that cannot work
};

/// \param physical_bytes  the memory of this computer; each device has its share, unless the
///                        environment says how much
/// \param view  what the file of RINGLET_MACHINE says; null: devices are plain ones
/// Errors  kInvalidArgument  names the variable and what it may be, or the part of the machine that
///                           is missing
Result<Emulation> ReadEmulation(const EnvMap& environment, std::uint64_t physical_bytes,
                                const topology::HostView* view = nullptr);

/// The visible devices, by their numbers among all: CUDA_VISIBLE_DEVICES as CUDA reads it. A list
/// ends at the first entry that is no device.
std::vector<std::uint32_t> VisibleDevices(const EnvMap& environment, const MachineFacts& machine);

}  // namespace ringlet::cuda
