// The control tree: a k-ary tree of contiguous ranges of places. When ranks are left out of a
// group, the tree changes only near their places.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bootstrap/survivors.hpp"

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

/// The ranks of a place that replace its top rank, one after the other, if more ranks are left out.
struct Successors {
  std::vector<std::uint32_t> ranks;  ///< the other ranks of its place, in this order
  std::uint32_t left_out = 0;        ///< the number of ranks of the place that are left out already
};

/// The places of a group's ranks. Ranks with the same node leader share a place. The node leader is
/// the top rank of the place; if it is not in the group, the first of them is. Places are in order
/// of the lowest rank of each.
class TreeLayout {
 public:
  /// \param node_leaders  the node leader of each rank, by rank
  /// Cost  O(ranks)
  explicit TreeLayout(std::span<const std::uint32_t> node_leaders);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(place_of_.size()); }
  std::uint32_t places() const { return static_cast<std::uint32_t>(tops_.size()); }
  std::uint32_t PlaceOf(std::uint32_t rank) const { return place_of_[rank]; }
  std::uint32_t TopOf(std::uint32_t place) const { return tops_[place]; }
  /// The ranks of a place, ascending.
  std::span<const std::uint32_t> RanksOf(std::uint32_t place) const {
    return std::span(by_place_).subspan(begins_[place], begins_[place + 1] - begins_[place]);
  }

 private:
  std::vector<std::uint32_t> place_of_;  // by rank
  std::vector<std::uint32_t> tops_;      // by place
  std::vector<std::uint32_t> by_place_;  // all ranks, those of one place side by side
  std::vector<std::uint32_t> begins_;    // by place, and the end
};

/// The control tree of a group, or of those of its ranks that remain after some were left out.
///
/// The top ranks form a k-ary tree, and the other ranks of a place hang below their top rank. If a
/// top rank is left out, the first remaining rank of its place becomes the top rank. The last
/// places of the tree move into places without remaining ranks. Ranks that are not next to such a
/// place keep their parents and children.
class ControlTree {
 public:
  /// All ranks of the layout. \param layout  not null
  explicit ControlTree(std::shared_ptr<const TreeLayout> layout);
  /// \param survivors  of the layout's ranks; not null; at least one remains
  /// Cost  O(ranks left out and the ranks at their places, sorted)
  ControlTree(std::shared_ptr<const TreeLayout> layout, std::shared_ptr<const Survivors> survivors);

  const std::shared_ptr<const TreeLayout>& layout() const { return layout_; }

  /// \param rank  as the survivors number it, like the ranks in the result
  /// Cost  O(arity * depth * log of the ranks left out, and the ranks at its place)
  TreePlace PlaceOf(std::uint32_t rank, std::uint32_t arity) const;
  /// The top rank of the rank's place.
  std::uint32_t TopOf(std::uint32_t rank) const { return New(TopAt(layout_->PlaceOf(Old(rank)))); }
  /// No ranks if this one is not a top rank. Cost  O(ranks at its place)
  Successors SuccessorsOf(std::uint32_t rank) const;

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  std::uint32_t Old(std::uint32_t rank) const {
    return survivors_ ? survivors_->OldRank(rank) : rank;
  }
  std::uint32_t New(std::uint32_t rank) const {
    return survivors_ ? survivors_->NewRank(rank).value() : rank;
  }
  std::uint32_t TopAt(std::uint32_t place) const;
  std::uint32_t PositionOf(std::uint32_t place) const;
  std::uint32_t PlaceAt(std::uint32_t position) const;

  std::shared_ptr<const TreeLayout> layout_;
  std::shared_ptr<const Survivors> survivors_;  // null: all
  std::uint32_t positions_;                     // the number of places with remaining ranks
  std::vector<Pair> new_tops_;                  // place, top rank; ascending
  std::vector<Pair> moved_;                     // empty place, place that fills it; both ascending
};

}  // namespace ringlet::bootstrap
