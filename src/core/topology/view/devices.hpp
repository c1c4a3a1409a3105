// Whether every rank has a device of its own.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "topology/view/pci.hpp"

namespace ringlet::topology {

/// The device that a rank says it runs on.
struct RankDevice {
  Rank rank{};
  std::uint64_t host = 0;                  ///< HostView::identity
  std::string host_name;                   ///< for people
  std::uint32_t number = 0;                ///< as the caller numbers it
  std::optional<BusId> bus = {};           ///< of a GPU that the host is known to have
  std::optional<std::uint32_t> half = {};  ///< of a split GPU: halves are devices
};

/// \param may_share  NCCL_MULTI_RANK_GPU_ENABLE: several ranks on one device are wanted
/// Errors  kInvalidArgument  names the first rank whose device another has, that other one, the
///                           host, the device and the cure
/// Cost    O(devices)
Status CheckDevices(std::span<const RankDevice> devices, bool may_share);

}  // namespace ringlet::topology
