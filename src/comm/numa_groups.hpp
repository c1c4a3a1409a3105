// Which ranks of one host live at the same NUMA node: pure.
#pragma once
#include <cstdint>
#include <span>

#include "collective/groups.hpp"
#include "comm/card.hpp"

namespace ringlet::comm {

/// \param cards   of all ranks of one host, by rank
/// \param in_row  so many ranks in a row count as of one node; 0: the nodes that the cards tell
collective::Groups NumaGroups(std::span<const Card> cards, std::uint64_t in_row);

}  // namespace ringlet::comm
