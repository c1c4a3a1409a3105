// Which ranks of one host live at the same NUMA node: pure.
#pragma once
#include <cstdint>
#include <span>

#include "collective/algorithm/groups.hpp"
#include "comm/peers/peer_info.hpp"

namespace ringlet::comm {

/// \param peer_infos   of all ranks of one host, by rank
/// \param in_row  so many ranks in a row count as of one node; 0: the nodes that the peer infos
/// tell
collective::Groups NumaGroups(std::span<const PeerInfo> peer_infos, std::uint64_t in_row);

}  // namespace ringlet::comm
