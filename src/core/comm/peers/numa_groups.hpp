// Groups the ranks of one host by NUMA node. Pure.
#pragma once
#include <cstdint>
#include <span>

#include "collective/layout/groups.hpp"
#include "comm/peers/peer_info.hpp"

namespace ringlet::comm {

/// Returns the ranks of each node, by their place in `host`.
/// \param peer_infos  of all ranks
/// \param host        the ranks of one host
/// \param in_row  so many consecutive ranks count as one node; 0: the nodes in the peer infos
collective::Groups NumaGroups(std::span<const PeerInfo> peer_infos, std::span<const Rank> host,
                              std::uint64_t in_row);

}  // namespace ringlet::comm
