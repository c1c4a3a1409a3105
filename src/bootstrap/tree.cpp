#include "bootstrap/tree.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::bootstrap {
namespace {

std::vector<RankRange> ChildrenOf(RankRange subtree, std::uint32_t arity) {
  std::vector<RankRange> children;
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

}  // namespace

TreePlace PlaceInTree(Rank self, std::uint32_t size, std::uint32_t arity) {
  RINGLET_ASSERT(Index(self) < size && arity > 0);
  TreePlace place;
  place.subtree = {0, size};
  place.children = ChildrenOf(place.subtree, arity);
  while (place.subtree.first != Index(self)) {
    place.parent = Rank{place.subtree.first};
    place.subtree = *std::ranges::find_if(place.children, [&](const RankRange& child) {
      return Index(self) - child.first < child.count;
    });
    place.children = ChildrenOf(place.subtree, arity);
  }
  return place;
}

}  // namespace ringlet::bootstrap
