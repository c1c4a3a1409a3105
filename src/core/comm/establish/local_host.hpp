// The host and the devices of one rank, and the rank's place among them.
#pragma once
#include <cstdint>
#include <optional>

#include "comm/process/config.hpp"
#include "topology/view/cpu_set.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::comm {

struct LocalHost {
  topology::HostView view;
  std::uint32_t numa = 0;  ///< id of the rank's NUMA node
  /// The cores near which the service thread runs. Empty: anywhere.
  topology::CpuSet cpus = {};
  /// The cores of the rank itself. Empty: unknown.
  topology::CpuSet allowed = {};
  std::optional<std::uint32_t> gpu = {};  ///< index of the GPU that the caller named
  bool knows_devices = true;              ///< else `view` lacks NICs and GPUs
};
/// Reads the host, or the file that describes one. Ranks that expect to be on one host skip
/// devices, unless a setting needs them.
Result<LocalHost> DiscoverLocal(Process& process, const Config& config);

}  // namespace ringlet::comm
