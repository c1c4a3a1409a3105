// Bruck: schedules that send over distances of 1, 2, 4, ... ranks. They take ceil(log2(n)) rounds
// for any number of ranks n. For small sizes.
//
// Source Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications
//        in multiport message-passing systems", IEEE Trans. Parallel Distrib. Syst. 8 (1997).
// Pure.
#pragma once
#include <cstddef>

#include "collective/algorithm/direct.hpp"
#include "collective/exec/schedule.hpp"
#include "collective/layout/call_cost.hpp"

namespace ringlet::collective {

/// Each rank sends (n-1) * count elements in total, as in a ring.
Schedule BruckAllGather(PeerSet peers, std::size_t count);

/// Each block takes one hop per set bit of its distance. A rank sends about n/2 * log2(n) blocks
/// (n-1 in a direct exchange) but only log2(n) messages. Packing the blocks needs equally much
/// scratch.
Schedule BruckAllToAll(PeerSet peers, std::size_t count);

/// Ends once a message from every rank has reached every other rank, directly or indirectly. The
/// contents of the buffers are meaningless.
/// Source Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", Int. J. Parallel
///        Programming 17 (1988).
Schedule DisseminationBarrier(PeerSet peers, std::size_t count);

/// Returns the time of an all-gather that doubles the blocks of each rank in every round, or of the
/// reversed reduce-scatter.
std::uint64_t HeldDoublesNs(const CallCost& one);

}  // namespace ringlet::collective
