// Several ports as one: what NCCL makes of NICs whose network plugin can spread a message over
// them.
//
// Detection never does this: Ringlet's own links use ports as they are. Plans for GPUs do, by
// PortRules.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// How far apart two ports are, in the order of NCCL_NET_MERGE_LEVEL.
enum class PortDistance : std::uint8_t {
  kLoc,   ///< the same one
  kPort,  ///< ports of one device
  kPix,   ///< devices at one PCIe switch
  kPxb,   ///< below one PCIe switch
  kPhb,   ///< below one processor
  kSys,   ///< of one host
  kDis,   ///< of different hosts
};

/// Reads NCCL_NET_MERGE_LEVEL: LOC (nothing is merged), PORT, PIX, PXB, P2C, PXN, PHB, SYS, or the
/// number of a PathType; PORT is 1. P2C and PXN allow what PXB does.
/// Errors  kInvalidArgument  quotes the text and lists the names
Result<PortDistance> ParseMergeLevel(std::string_view text);

struct NicMerge {
  PortDistance level = PortDistance::kPort;  ///< NCCL's default
  bool same_rail = false;                    ///< NCCL_NET_MERGE_POLICY=RAIL
  /// NCCL_NET_FORCE_MERGE: names of ports that are merged first, whatever the level.
  std::vector<std::vector<std::string>> forced = {};
  std::uint32_t ports_max = 8;  ///< of one virtual NIC; plugins before version 12: 4
};

/// "a,b;c,d".
std::vector<std::vector<std::string>> ParseForcedMerge(std::string_view text);

/// \pre the view has passed Check; both are indices into view.nets
PortDistance DistanceOf(const HostView& view, std::uint32_t a, std::uint32_t b);

/// The view with a virtual port for each group, named "mlx5_0+mlx5_1", as wide as its members
/// together; these are kept and are no networks any more (`net="0"`).
///
/// Groups are greedy, as NCCL's are: each port that is left, in order, with all others that are
/// left and near enough. Of a group whose first port has no PCI function all are no networks any
/// more and no port is added: NCCL has no place for it.
///
/// Errors  kInvalidArgument  a forced name that no port or several have, or that occurs twice; a
///                           group whose members are of no common processor; no bus id is free
/// Cost    O(ports^2 * depth)
Result<HostView> MergeNics(const HostView& view, const NicMerge& how);

}  // namespace ringlet::topology
