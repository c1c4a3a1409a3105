// Checks that every rank has its own device.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "topology/view/pci.hpp"

namespace ringlet::topology {

/// The device that a rank reports.
struct RankDevice {
  Rank rank{};
  std::uint64_t host = 0;                  ///< HostView::identity
  std::string host_name;                   ///< for messages
  std::uint32_t number = 0;                ///< the caller's number
  std::optional<BusId> bus = {};           ///< for a GPU that the host is known to have
  std::optional<std::uint32_t> half = {};  ///< for a split GPU: each half is a device
};

/// \param may_share  NCCL_MULTI_RANK_GPU_ENABLE: several ranks may use one device
/// Errors  kInvalidArgument  contains the first rank on another rank's device, that other rank, the
///                           host, the device and the cure
/// Cost    O(devices)
Status CheckDevices(std::span<const RankDevice> devices, bool may_share);

}  // namespace ringlet::topology
