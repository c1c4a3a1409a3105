#include "plan/channels/double_tree.hpp"

#include <bit>

namespace ringlet::plan {
namespace {

// The upper child of a node: as far from it as the number of nodes allows.
std::optional<std::uint32_t> UpperChild(std::uint32_t node, std::uint32_t half,
                                        std::uint32_t nodes) {
  while (half > 0 && node + half >= nodes) half /= 2;
  return half > 0 ? std::optional(node + half) : std::nullopt;
}

// The first tree. Node 0 is the root and has one child. A node with lowest set bit b has children
// at distance b / 2, so that odd nodes are leaves.
DoubleTreePlace PlaceInFirst(std::uint32_t node, std::uint32_t nodes) {
  DoubleTreePlace place;
  if (node == 0) {
    if (nodes > 1) place.children[1] = std::bit_floor(nodes - 1);
    return place;
  }
  const std::uint32_t lowest = node & (~node + 1);
  std::uint32_t parent = (node ^ lowest) | (lowest << 1);
  if (parent >= nodes) parent = node ^ lowest;
  place.parent = parent;
  place.side = node < parent ? 0 : 1;
  if (lowest > 1) place.children[0] = node - lowest / 2;
  place.children[1] = UpperChild(node, lowest / 2, nodes);
  return place;
}

template <typename Map>
DoubleTreePlace Mapped(DoubleTreePlace place, const Map& map) {
  if (place.parent) place.parent = map(*place.parent);
  for (std::optional<std::uint32_t>& child : place.children)
    if (child) child = map(*child);
  return place;
}

}  // namespace

DoubleTreePlace PlaceInTree(std::uint32_t node, std::uint32_t nodes, std::uint32_t tree) {
  if (tree == 0) return PlaceInFirst(node, nodes);
  if (nodes % 2 == 0) {
    const auto mirror = [&](std::uint32_t x) { return nodes - 1 - x; };
    return Mapped(PlaceInFirst(mirror(node), nodes), mirror);
  }
  const DoubleTreePlace shifted = PlaceInFirst((node + nodes - 1) % nodes, nodes);
  return Mapped(shifted, [&](std::uint32_t x) { return (x + 1) % nodes; });
}

}  // namespace ringlet::plan
