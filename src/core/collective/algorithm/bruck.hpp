// Schedules whose ranks send ahead by 1, 2, 4, ... ranks: ceil(log2(n)) rounds for any number of
// ranks n, for small sizes.
//
// Source Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications
//        in multiport message-passing systems", IEEE Trans. Parallel Distrib. Syst. 8 (1997).
// Pure.
#pragma once
#include <cstddef>

#include "collective/algorithm/call_cost.hpp"
#include "collective/algorithm/direct.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// Each rank sends (n-1) * count elements in all, as with a ring.
Schedule BruckAllGather(Seat seat, std::size_t count);

/// Each block travels as many hops as its distance has bits: about n/2 * log2(n) blocks sent where
/// a direct exchange sends n-1, but log2(n) messages. Blocks are packed, which costs as much
/// scratch.
Schedule BruckAllToAll(Seat seat, std::size_t count);

/// When it is done, every rank has heard of every other, directly or not. The contents of the
/// buffers have no meaning.
/// Source Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", Int. J. Parallel
///        Programming 17 (1988).
Schedule DisseminationBarrier(Seat seat, std::size_t count);

/// Returns the time of an all-gather in which each round doubles the blocks that a rank holds, or
/// of the reduce-scatter that does the same backwards.
std::uint64_t HeldDoublesNs(const CallCost& one);

}  // namespace ringlet::collective
