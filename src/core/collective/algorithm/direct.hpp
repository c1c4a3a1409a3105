// Direct: schedules where every rank sends directly to every rank that needs its elements. They use
// the fewest steps and the most links.
//
// Blocks lie in rank order. Pure. Ranks visit their peers in order of distance, so that not all of
// them begin with rank 0. A sum for one rank is added up starting at that rank. A sum for all ranks
// is added up in `order`.
#pragma once
#include <cstddef>
#include <span>

#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// This rank and the number of ranks.
struct PeerSet {
  Rank self{};
  std::uint32_t ranks = 1;
};

/// Each rank sends `count` elements to each rank, in n-1 messages. Not in place.
Schedule DirectAllToAll(PeerSet peers, std::size_t count);
/// Each rank sends `count` elements to the root.
Schedule DirectGather(PeerSet peers, Rank root, std::size_t count);
/// The root sends `count` elements to each rank.
Schedule DirectScatter(PeerSet peers, Rank root, std::size_t count);
/// Each rank sends the same `count` elements to all ranks.
Schedule DirectAllGather(PeerSet peers, std::size_t count);
/// Each rank receives its `count` elements from all ranks and adds them up.
Schedule DirectReduceScatter(PeerSet peers, std::size_t count);
/// Each rank sends its whole input to all ranks and adds up the inputs, all ranks in the same
/// order. The schedule has one delay, which suits little data over long distances.
Schedule DirectAllReduce(std::span<const Rank> order, Rank self, std::size_t count);
/// The root sends `count` elements to all ranks, beginning with the next in the order.
Schedule DirectBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count);
/// All ranks send `count` elements to the root, which adds them up in order from its own on.
Schedule DirectReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count);

}  // namespace ringlet::collective
