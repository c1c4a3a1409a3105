// The control tree: a k-ary tree of contiguous ranges of places.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ringlet::bootstrap {

/// Places [first, first + count). A place is a rank, or the index of a node leader.
struct PlaceRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const PlaceRange&) const = default;
};

/// The subtrees below the top of `subtree`, ascending. The first place of each is the child. A rank
/// can compute its children from its subtree, so a parent sends each child only its range.
/// \param arity  maximum number of children, at least 1 (a chain). Depth is about log_arity(count).
/// Cost  O(arity)
std::vector<PlaceRange> ChildrenOf(PlaceRange subtree, std::uint32_t arity);

/// The ranks that one rank of a group is connected to.
struct TreePlace {
  std::optional<std::uint32_t> parent;  ///< empty at the top
  std::vector<std::uint32_t> children;
  bool operator==(const TreePlace&) const = default;
};

/// The place of `self` in the tree along which the ranks have joined. Ranks with the same node
/// leader hang below it. If it is not in the group, they hang below the first of them. These top
/// ranks form a k-ary tree in order of the lowest rank below each.
/// \param node_leaders  the node leader of each rank, by rank
/// Cost  O(ranks)
TreePlace PlaceInGroup(std::uint32_t self, std::span<const std::uint32_t> node_leaders,
                       std::uint32_t arity);

}  // namespace ringlet::bootstrap
