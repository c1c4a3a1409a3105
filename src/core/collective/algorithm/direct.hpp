// Schedules in which every rank talks to every rank that has, or wants, its elements: the fewest
// steps, the most links.
//
// Blocks lie in the order of ranks. Pure. Peers are visited in the order of their distance, so that
// not all ranks talk to rank 0 first. Sums are added up from the rank on that they are for; those
// that are for all, in the order of ranks.
#pragma once
#include <cstddef>
#include <span>

#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// This rank of so many.
struct Seat {
  Rank self{};
  std::uint32_t ranks = 1;
};

/// `count` elements from each rank to each; n-1 messages. Not in place.
Schedule DirectAllToAll(Seat seat, std::size_t count);
/// `count` elements from each rank to the root.
Schedule DirectGather(Seat seat, Rank root, std::size_t count);
/// `count` elements from the root to each rank.
Schedule DirectScatter(Seat seat, Rank root, std::size_t count);
/// `count` elements from each rank to all.
Schedule DirectAllGather(Seat seat, std::size_t count);
/// Each rank gets its `count` elements from all, and adds them up.
Schedule DirectReduceScatter(Seat seat, std::size_t count);
/// Each rank sends all it has to all and adds up what comes, all in the same order: one delay, for
/// little that is far away.
Schedule DirectAllReduce(std::span<const Rank> order, Rank self, std::size_t count);
/// `count` elements from the root to all, from the next in the order on.
Schedule DirectBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count);
/// `count` elements of all to the root, which adds them up from its own on, in the order.
Schedule DirectReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count);

}  // namespace ringlet::collective
