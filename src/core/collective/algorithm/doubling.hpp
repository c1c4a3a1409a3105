// Schedules that double the distance between partners each round: few rounds, for small and middle
// sizes.
//
// If the number of ranks is no power of two, some ranks first hand their data to a neighbour, and
// get the result from it at the end. Pure. Each sum is computed in the same order by all ranks that
// compute it, so that results are the same bit for bit.
#pragma once
#include <cstddef>
#include <span>

#include "collective/algorithm/direct.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// Partners exchange all they have, and both add it up. log2(n) rounds, two more where n is no
/// power of two; each rank sends count elements in each.
/// \param order  each rank once; neighbours in it talk first
/// Source Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
///        MPICH", Int. J. High Perf. Comp. Appl. 19 (2005), section 4.
Schedule DoublingAllReduce(std::span<const Rank> order, Rank self, std::size_t count);

/// Partners halve what they are responsible for until each rank has one complete share, then go the
/// same way back. 2*log2(n) rounds of together 2*(n-1)/n * count elements; where n is no power of
/// two, two more of count elements each.
/// Source Rabenseifner's algorithm, in the same paper, section 4.5.
Schedule HalvingAllReduce(std::span<const Rank> order, Rank self, std::size_t count);

/// The first half of that, for shares of `count` elements in the order of the ranks.
Schedule HalvingReduceScatter(Seat seat, std::size_t count);

/// Blocks of `count` elements, doubled each round. \pre  the number of ranks is a power of two
Schedule DoublingAllGather(Seat seat, std::size_t count);

}  // namespace ringlet::collective
