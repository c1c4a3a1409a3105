// Doubling: schedules that double the distance between partners each round. They take few rounds
// and suit small and medium sizes.
//
// If the number of ranks is not a power of two, some ranks first pass their data to a neighbour,
// and receive the result from it at the end. Pure. All ranks that compute a sum compute it in the
// same order, so that their results are bitwise equal.
#pragma once
#include <cstddef>
#include <span>

#include "collective/algorithm/direct.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// Partners exchange all of their data, and both add it up. Takes log2(n) rounds, plus two if n is
/// not a power of two. Each rank sends `count` elements in each.
/// \param order  each rank once; neighbours are the first partners
/// Source Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
///        MPICH", Int. J. High Perf. Comp. Appl. 19 (2005), section 4.
Schedule DoublingAllReduce(std::span<const Rank> order, Rank self, std::size_t count);

/// Partners halve their ranges until each rank has one complete share, then reverse the steps.
/// Takes 2*log2(n) rounds with 2*(n-1)/n * count elements in total, plus two rounds with `count`
/// elements each if n is not a power of two.
/// Source Rabenseifner's algorithm, in the same paper, section 4.5.
Schedule HalvingAllReduce(std::span<const Rank> order, Rank self, std::size_t count);

/// The first half of HalvingAllReduce, for shares of `count` elements in rank order.
Schedule HalvingReduceScatter(PeerSet peers, std::size_t count);

/// Doubles blocks of `count` elements each round. \pre  the number of ranks is a power of two
Schedule DoublingAllGather(PeerSet peers, std::size_t count);

}  // namespace ringlet::collective
