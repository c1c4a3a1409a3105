// The control tree: a k-ary tree of contiguous ranges of places.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ringlet::bootstrap {

/// Places [first, first + count). A place is a rank, or a node leader among the node leaders.
struct PlaceRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const PlaceRange&) const = default;
};

/// The subtrees below the top of `subtree`, ascending; the first place of each is the child.
/// A rank that knows its subtree knows its children, so a parent tells each child its range and no
/// rank needs more.
/// \param arity  children at most; at least 1 (a chain)
/// Depth is about log_arity(count); cost O(arity).
std::vector<PlaceRange> ChildrenOf(PlaceRange subtree, std::uint32_t arity);

/// The ranks that one rank of a group is connected to.
struct TreePlace {
  std::optional<std::uint32_t> parent;  ///< empty at the top
  std::vector<std::uint32_t> children;
  bool operator==(const TreePlace&) const = default;
};

/// The place of `self` in a tree in which ranks with the same node leader hang below it (below the
/// first of them where it is not one of them), and those form a k-ary tree in order of the lowest
/// rank below each: the tree along which the ranks have joined. \param node_leaders  by rank: equal
/// for ranks of which one speaks for the others Cost  O(ranks)
TreePlace PlaceInGroup(std::uint32_t self, std::span<const std::uint32_t> node_leaders,
                       std::uint32_t arity);

}  // namespace ringlet::bootstrap
