#include "bootstrap/tree.hpp"

#include <algorithm>
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

TreePlace PlaceInGroup(std::uint32_t self, std::span<const std::uint32_t> node_leaders,
                       std::uint32_t arity) {
  RINGLET_ASSERT(self < node_leaders.size());
  std::vector<std::uint32_t> firsts;  // the top rank of each node leader's ranks
  std::unordered_map<std::uint32_t, std::uint32_t> place;
  TreePlace out;
  for (std::uint32_t rank = 0; rank < node_leaders.size(); ++rank) {
    const std::uint32_t node_leader = node_leaders[rank];
    const auto [it, fresh] = place.emplace(node_leader, static_cast<std::uint32_t>(firsts.size()));
    const bool present =
        node_leader < node_leaders.size() && node_leaders[node_leader] == node_leader;
    if (fresh) firsts.push_back(present ? node_leader : rank);
    if (rank != self && firsts[it->second] == self) out.children.push_back(rank);
  }
  const std::uint32_t mine = place.at(node_leaders[self]);
  if (firsts[mine] != self) {
    out.parent = firsts[mine];
    return out;
  }
  PlaceRange subtree{0, static_cast<std::uint32_t>(firsts.size())};
  std::vector<PlaceRange> children = ChildrenOf(subtree, arity);
  while (subtree.first != mine) {
    out.parent = firsts[subtree.first];
    subtree = *std::ranges::find_if(
        children, [&](const PlaceRange& child) { return mine - child.first < child.count; });
    children = ChildrenOf(subtree, arity);
  }
  for (const PlaceRange& child : children) out.children.push_back(firsts[child.first]);
  return out;
}

}  // namespace ringlet::bootstrap
