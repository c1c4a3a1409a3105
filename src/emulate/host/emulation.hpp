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
/// The number of this process's emulated host.
inline constexpr const char* kHostVariable = "RINGLET_EMULATE_HOST";
/// The path of the machine's topology file.
inline constexpr const char* kMachineVariable = "RINGLET_MACHINE";

/// Maximum number of devices; each has its own PCI bus.
inline constexpr std::uint32_t kDevicesMax = 64;
inline constexpr std::uint32_t kHostsMax = 4096;
inline constexpr std::uint64_t kMemoryMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 40;

struct Emulation {
  MachineFacts machine = MachineFacts::Plain(1, 0);
  std::uint64_t memory_bytes = 0;    ///< per device and process
  bool memory_of_model = false;      ///< a device reports its model's memory, if known
  std::vector<std::string> kernels;  ///< paths of libraries with host functions
  bool verbose = false;              ///< log each refused call, not only impossible ones
};

/// \param physical_bytes  memory of this computer; by default each device has a share of it
/// \param view  content of the file of RINGLET_MACHINE; null: plain devices
/// Errors  kInvalidArgument  names the variable and its allowed values, or the machine's missing
///                           part
Result<Emulation> ReadEmulation(const EnvMap& environment, std::uint64_t physical_bytes,
                                const topology::HostView* view = nullptr);

/// Returns the numbers of the visible devices among all devices. Interprets CUDA_VISIBLE_DEVICES as
/// CUDA does: a list ends at the first invalid entry.
std::vector<std::uint32_t> VisibleDevices(const EnvMap& environment, const MachineFacts& machine);

}  // namespace ringlet::cuda
