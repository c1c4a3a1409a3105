// The control tree: a k-ary tree of contiguous rank ranges.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ringlet/types.hpp"

namespace ringlet::bootstrap {

/// Ranks [first, first + count).
struct RankRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const RankRange&) const = default;
};

/// One rank's place. A subtree is a contiguous range whose first rank is its top, so tables of a
/// subtree are joined by appending, and who is missing is a range.
struct TreePlace {
  std::optional<Rank> parent;  ///< empty at rank 0
  RankRange subtree;           ///< this rank and all below it
  std::vector<RankRange>
      children;  ///< their subtrees, ascending; the first rank of each is the child
};

/// \param arity  children per rank at most; at least 1 (a chain).
/// Depth is about log_arity(size); cost O(arity * depth).
TreePlace PlaceInTree(Rank self, std::uint32_t size, std::uint32_t arity);

}  // namespace ringlet::bootstrap
