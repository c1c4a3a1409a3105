// Ring: schedules where every rank talks to two neighbours only and moves the fewest bytes.
//
// In all functions, `order` lists each rank of the ring once and contains `self`. Pure. A sum is
// added up along the ring, beginning at the successor of the rank that receives it. This order is
// the same for every run and rank, but differs from rank order.
#pragma once
#include <cstddef>
#include <span>

#include "collective/exec/schedule.hpp"
#include "collective/layout/call_cost.hpp"

namespace ringlet::collective {

/// Splits the buffer into one chunk per rank, as evenly as possible. In the first n-1 rounds, every
/// rank passes a partial sum to its successor and so obtains one complete chunk (reduce-scatter).
/// In n-1 more rounds the complete chunks travel around the ring (all-gather).
///
/// Cost   each rank sends and receives 2*(n-1)/n * count elements in 2*(n-1) rounds.
/// Source the reduce-scatter and all-gather of Patarasuk and Yuan, "Bandwidth optimal all-reduce
///        algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69 (2009),
///        section 3.
Schedule RingAllReduce(std::span<const Rank> order, Rank self, std::size_t count);

/// Collects `count` elements from every rank, in rank order. n-1 rounds.
Schedule RingAllGather(std::span<const Rank> order, Rank self, std::size_t count);

/// Each rank receives `count` elements. The input has those of all ranks, in rank order. n-1
/// rounds; scratch for two blocks.
Schedule RingReduceScatter(std::span<const Rank> order, Rank self, std::size_t count);

/// A pipeline that begins at the root. Slices follow each other, so the time for many elements is
/// that of one hop.
Schedule RingBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count);

/// A pipeline that ends at the root.
Schedule RingReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count);

/// Returns the time of RingBroadcast or RingReduce: each hop once, and the bytes over the slowest
/// link.
std::uint64_t PipelineNs(const CallCost& one);

}  // namespace ringlet::collective
