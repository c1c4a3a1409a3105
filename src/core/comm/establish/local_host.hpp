// The host and the devices of one rank, and its place among them.
#pragma once
#include <cstdint>
#include <optional>

#include "comm/process/config.hpp"
#include "topology/view/cpu_set.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::comm {

struct LocalHost {
  topology::HostView view;
  std::uint32_t numa = 0;  ///< id of the NUMA node that the rank lives at
  /// The cores where the service thread is near; empty: anywhere.
  topology::CpuSet cpus = {};
  /// The cores of the rank itself; empty: unknown.
  topology::CpuSet allowed = {};
  std::optional<std::uint32_t> gpu = {};  ///< index of the one that the caller named
  bool knows_devices = true;              ///< else there are no NICs and GPUs in `view`
};
/// Reads the host, or the file that describes one. Ranks that expect to be on one host look at no
/// devices, unless a setting needs them.
Result<LocalHost> DiscoverLocal(Process& process, const Config& config);

}  // namespace ringlet::comm
