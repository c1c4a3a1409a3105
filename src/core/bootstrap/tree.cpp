#include "bootstrap/tree.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ringlet/status.hpp"

namespace ringlet::bootstrap {

std::vector<PlaceRange> ChildrenOf(PlaceRange subtree, std::uint32_t arity) {
  RINGLET_ASSERT(subtree.count > 0 && arity > 0);
  std::vector<PlaceRange> children;
  const std::uint32_t below = subtree.count - 1;
  const std::uint32_t parts = std::min(arity, below);
  std::uint32_t first = subtree.first + 1;
  for (std::uint32_t i = 0; i < parts; ++i) {
    const std::uint32_t count = below / parts + (i < below % parts ? 1 : 0);
    children.push_back({first, count});
    first += count;
  }
  return children;
}

// ---- TreeLayout -------------------------------------------------------------------------------

TreeLayout::TreeLayout(std::span<const std::uint32_t> node_leaders) {
  const auto ranks = static_cast<std::uint32_t>(node_leaders.size());
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> place_of_leader(ranks, kNone);
  std::unordered_map<std::uint32_t, std::uint32_t> place_of_outsider;  // not in the group
  place_of_.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t node_leader = node_leaders[rank];
    std::uint32_t& place = node_leader < ranks
                               ? place_of_leader[node_leader]
                               : place_of_outsider.emplace(node_leader, kNone).first->second;
    if (place == kNone) {
      place = places();
      const bool present = node_leader < ranks && node_leaders[node_leader] == node_leader;
      tops_.push_back(present ? node_leader : rank);
    }
    place_of_.push_back(place);
  }
  begins_.assign(places() + 1, 0);
  for (const std::uint32_t place : place_of_) ++begins_[place + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  by_place_.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) by_place_[next[place_of_[rank]]++] = rank;
}

// ---- ControlTree ------------------------------------------------------------------------------

ControlTree::ControlTree(std::shared_ptr<const TreeLayout> layout)
    : layout_(std::move(layout)), positions_(layout_->places()) {}

ControlTree::ControlTree(std::shared_ptr<const TreeLayout> layout,
                         std::shared_ptr<const Survivors> survivors)
    : layout_(std::move(layout)), survivors_(std::move(survivors)) {
  std::vector<std::uint32_t> affected, empty;
  for (const std::uint32_t rank : survivors_->left_out())
    affected.push_back(layout_->PlaceOf(rank));
  std::ranges::sort(affected);
  affected.erase(std::ranges::unique(affected).begin(), affected.end());
  for (const std::uint32_t place : affected) {
    if (!survivors_->IsLeftOut(layout_->TopOf(place))) continue;
    const auto ranks = layout_->RanksOf(place);
    const auto top =
        std::ranges::find_if_not(ranks, [&](auto rank) { return survivors_->IsLeftOut(rank); });
    if (top == ranks.end())
      empty.push_back(place);
    else
      new_tops_.emplace_back(place, *top);
  }
  positions_ = layout_->places() - static_cast<std::uint32_t>(empty.size());
  RINGLET_ASSERT(positions_ > 0);
  std::uint32_t filler = positions_;
  for (const std::uint32_t place : empty) {
    if (place >= positions_) break;
    while (std::ranges::binary_search(empty, filler)) ++filler;
    moved_.emplace_back(place, filler++);
  }
}

std::uint32_t ControlTree::TopAt(std::uint32_t place) const {
  const auto found = std::ranges::lower_bound(new_tops_, place, {}, &Pair::first);
  return found != new_tops_.end() && found->first == place ? found->second : layout_->TopOf(place);
}

std::uint32_t ControlTree::PositionOf(std::uint32_t place) const {
  if (place < positions_) return place;
  return std::ranges::lower_bound(moved_, place, {}, &Pair::second)->first;
}

std::uint32_t ControlTree::PlaceAt(std::uint32_t position) const {
  const auto found = std::ranges::lower_bound(moved_, position, {}, &Pair::first);
  return found != moved_.end() && found->first == position ? found->second : position;
}

Successors ControlTree::SuccessorsOf(std::uint32_t rank) const {
  Successors out;
  const std::uint32_t self = Old(rank), place = layout_->PlaceOf(self);
  if (self != TopAt(place)) return out;
  for (const std::uint32_t one : layout_->RanksOf(place))
    if (survivors_ && survivors_->IsLeftOut(one))
      ++out.left_out;
    else if (one != self)
      out.ranks.push_back(New(one));
  return out;
}

// Every prefix of the positions is a connected part of the tree, because a parent precedes its
// children.
TreePlace ControlTree::PlaceOf(std::uint32_t rank, std::uint32_t arity) const {
  const std::uint32_t self = Old(rank), place = layout_->PlaceOf(self), top = TopAt(place);
  if (self != top) return {.parent = New(top), .children = {}};
  TreePlace out;
  for (const std::uint32_t one : layout_->RanksOf(place))
    if (one != top && !(survivors_ && survivors_->IsLeftOut(one))) out.children.push_back(New(one));
  const auto top_at = [&](std::uint32_t position) { return New(TopAt(PlaceAt(position))); };
  const std::uint32_t mine = PositionOf(place);
  PlaceRange subtree{0, layout_->places()};
  std::vector<PlaceRange> children = ChildrenOf(subtree, arity);
  while (subtree.first != mine) {
    out.parent = top_at(subtree.first);
    subtree = *std::ranges::find_if(
        children, [&](const PlaceRange& child) { return mine - child.first < child.count; });
    children = ChildrenOf(subtree, arity);
  }
  for (const PlaceRange& child : children)
    if (child.first < positions_) out.children.push_back(top_at(child.first));
  return out;
}

}  // namespace ringlet::bootstrap
