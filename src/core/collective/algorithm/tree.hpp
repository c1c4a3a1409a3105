// Schedules over trees: broadcast and reduce in few hops, and an all-reduce whose ranks all work
// although a tree has leaves.
//
// `order` are the ranks, each once, and contains `self`; neighbours in it are near each other in
// the trees. Pure. A sum is computed once, by the rank where it is complete, in an order that the
// tree fixes.
#pragma once
#include <cstddef>
#include <span>

#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// ceil(log2(n)) rounds; the root sends that many times count elements.
Schedule BinomialBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count);
/// The same backwards.
Schedule BinomialReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count);

/// Two binary trees, each for half of the elements, over all ranks but the root, which feeds both:
/// who is inside one is a leaf of the other. Slices follow each other, so that for many elements
/// each rank sends and receives count of them in all.
/// Source Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
///        scan", Parallel Computing 35 (2009).
Schedule DoubleTreeBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count);
/// The same backwards.
Schedule DoubleTreeReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count);
/// Up and down again, over all ranks.
Schedule DoubleTreeAllReduce(std::span<const Rank> order, Rank self, std::size_t count);

}  // namespace ringlet::collective
