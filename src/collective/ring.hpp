// All-reduce over a ring: every rank talks to two neighbours only, and moves the fewest bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/schedule.hpp"

namespace ringlet::collective {

/// The steps of `self` in an all-reduce over one ring.
///
/// The buffer is cut into as many chunks as there are ranks, as even as possible. In the first n-1
/// rounds every rank passes a partial sum to its successor, and so ends up with one chunk complete
/// (reduce-scatter); in n-1 more the complete chunks go round (all-gather). Chunks without elements
/// are not sent, so any count will do, 0 too.
///
/// \param order    the ranks in the order of the ring; each once; contains `self`
/// \param channel  of every step; at most one ring may use a channel
/// Cost   each rank sends and receives 2*(n-1)/n * count elements in 2*(n-1) rounds. Pure.
/// Source the reduce-scatter and all-gather of Patarasuk and Yuan, "Bandwidth optimal all-reduce
///        algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69 (2009),
///        section 3.
Schedule RingAllReduce(std::span<const Rank> order, Rank self, std::size_t count,
                       std::uint16_t channel = 0);

/// Elements of chunk `index` when `count` are cut into `chunks` pieces whose sizes differ by at
/// most one, the larger ones first.
Range EvenChunk(std::size_t count, std::size_t chunks, std::size_t index);

}  // namespace ringlet::collective
