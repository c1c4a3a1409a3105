// Merges several ports into one, as NCCL does if its network plugin can spread a message over them.
//
// Detection does not merge ports, because Ringlet's own links use each port. Plans for GPUs merge
// them, through PortRules.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The distance of two ports, in the order of NCCL_NET_MERGE_LEVEL.
enum class PortDistance : std::uint8_t {
  kLoc,   ///< the same port
  kPort,  ///< ports of one device
  kPix,   ///< devices on one PCIe switch
  kPxb,   ///< below one PCIe switch
  kPhb,   ///< below one processor
  kSys,   ///< on one host
  kDis,   ///< on different hosts
};

/// Parses NCCL_NET_MERGE_LEVEL: LOC (merges no ports), PORT, PIX, PXB, P2C, PXN, PHB, SYS, or the
/// number of a PathType. PORT is 1. P2C and PXN allow the same as PXB.
/// Errors  kInvalidArgument  quotes the text and lists the names
Result<PortDistance> ParseMergeLevel(std::string_view text);

struct NicMerge {
  PortDistance level = PortDistance::kPort;  ///< NCCL's default
  bool same_rail = false;                    ///< NCCL_NET_MERGE_POLICY=RAIL
  /// NCCL_NET_FORCE_MERGE: names of ports that are merged first, independent of the level.
  std::vector<std::vector<std::string>> forced = {};
  std::uint32_t ports_max = 8;  ///< ports per virtual NIC; 4 for plugins before version 12
};

/// "a,b;c,d".
std::vector<std::vector<std::string>> ParseForcedMerge(std::string_view text);

/// \pre the view passed Check(); `a` and `b` are indices into view.nets
PortDistance DistanceOf(const HostView& view, std::uint32_t a, std::uint32_t b);

/// Returns the view with a virtual port for each group, named "mlx5_0+mlx5_1". It is as wide as its
/// members together. The members stay in the view, but stop being networks (`net="0"`).
///
/// Groups are greedy, as in NCCL: in order, each remaining port forms a group with all other
/// remaining ports that are near enough. If the first port of a group lacks a PCI function, the
/// group loses its networks and gets no port, because NCCL cannot place it.
///
/// Errors  kInvalidArgument  a forced name without a port, with several ports, or listed twice; a
///                           group without a common processor; no free bus id
/// Cost    O(ports^2 * depth)
Result<HostView> MergeNics(const HostView& view, const NicMerge& how);

}  // namespace ringlet::topology
