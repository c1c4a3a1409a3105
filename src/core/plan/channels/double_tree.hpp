// Two binary trees over the nodes of a communicator. A leaf of one tree is an inner node of the
// other, so that together they use the bandwidth of every node in both directions. Pure arithmetic.
//
// Source  the double binary trees of Sanders, Speck and Traeff (2009), in the form that NCCL 2.30
//         uses. Equal nodes therefore give equal trees.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace ringlet::plan {

/// The parent and the children of one node in one tree.
struct DoubleTreePlace {
  std::optional<std::uint32_t> parent;  ///< null at the root
  /// Index among the children of its parent, 0 or 1. 0 at the root.
  std::uint32_t side = 0;
  std::array<std::optional<std::uint32_t>, 2> children;
  bool operator==(const DoubleTreePlace&) const = default;

  bool leaf() const { return !children[0] && !children[1]; }
};

/// \param node   below `nodes`
/// \param tree   0 or 1. Tree 1 is tree 0 mirrored if `nodes` is even, and shifted by one if odd.
/// Cost  O(log nodes)
DoubleTreePlace PlaceInTree(std::uint32_t node, std::uint32_t nodes, std::uint32_t tree);

}  // namespace ringlet::plan
