// Schedules over a ring: every rank talks to two neighbours only, and moves the fewest bytes.
//
// Of all functions: `order` are the ranks in the order of the ring, each once, and contains `self`.
// Pure. Sums are added up in the order of the ring, beginning one place behind the rank that ends
// up with them: the same for every run and rank, but not the order of the ranks.
#pragma once
#include <cstddef>
#include <span>

#include "collective/algorithm/call_cost.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// Elements of chunk `index` when `count` are cut into `chunks` pieces whose sizes differ by at
/// most one, the larger ones first.
Range EvenChunk(std::size_t count, std::size_t chunks, std::size_t index);

/// The buffer is cut into as many chunks as there are ranks, as even as possible. In the first n-1
/// rounds every rank passes a partial sum to its successor, and so ends up with one chunk complete
/// (reduce-scatter); in n-1 more the complete chunks go round (all-gather).
///
/// Cost   each rank sends and receives 2*(n-1)/n * count elements in 2*(n-1) rounds.
/// Source the reduce-scatter and all-gather of Patarasuk and Yuan, "Bandwidth optimal all-reduce
///        algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69 (2009),
///        section 3.
Schedule RingAllReduce(std::span<const Rank> order, Rank self, std::size_t count);

/// `count` elements from every rank, in the order of their numbers. n-1 rounds.
Schedule RingAllGather(std::span<const Rank> order, Rank self, std::size_t count);

/// `count` elements to every rank; the input is that of all of them, in the order of their numbers.
/// n-1 rounds; scratch for two of them.
Schedule RingReduceScatter(std::span<const Rank> order, Rank self, std::size_t count);

/// A pipeline that begins at the root; slices follow each other, so that its time for many elements
/// is that of one hop.
Schedule RingBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count);

/// A pipeline that ends at the root.
Schedule RingReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count);

/// Returns the time of RingBroadcast or RingReduce: each hop once, and the bytes over the slowest
/// link.
std::uint64_t PipelineNs(const CallCost& one);

}  // namespace ringlet::collective
