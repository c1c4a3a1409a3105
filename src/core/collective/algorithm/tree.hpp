// Trees: schedules for broadcast and reduce in few hops, and for an all-reduce with two trees, so
// that the leaves of one tree work in the other.
//
// `order` contains each rank once, including `self`. Neighbours in it are near each other in the
// trees. Pure. Only the rank at the top of the tree completes a sum, in an order that the tree
// fixes.
#pragma once
#include <cstddef>
#include <span>

#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// Takes ceil(log2(n)) rounds. The root sends that many times `count` elements.
Schedule BinomialBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count);
/// BinomialBroadcast in reverse.
Schedule BinomialReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count);

/// Builds two binary trees over all ranks except the root, which feeds both. Each tree carries half
/// of the elements, and inner ranks of one are leaves of the other. Slices follow each other, so
/// that for many elements each rank sends and receives `count` elements in total.
/// Source Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
///        scan", Parallel Computing 35 (2009).
Schedule DoubleTreeBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count);
/// DoubleTreeBroadcast in reverse.
Schedule DoubleTreeReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count);
/// Reduces up both trees and broadcasts down again, over all ranks.
Schedule DoubleTreeAllReduce(std::span<const Rank> order, Rank self, std::size_t count);

}  // namespace ringlet::collective
