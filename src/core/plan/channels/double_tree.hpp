// Two binary trees over the nodes of a communicator, made so that the leaves of one are the inner
// nodes of the other: together they use the bandwidth of every node both ways. Pure arithmetic.
//
// Source  the double binary trees of Sanders, Speck and Traeff (2009), in the form in which NCCL
//         2.30 has them, so that equal nodes give equal trees.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace ringlet::plan {

/// The place of one node in one tree.
struct DoubleTreePlace {
  std::optional<std::uint32_t> parent;  ///< nothing at the root
  /// Which child of its parent it is: 0 or 1. 0 at the root.
  std::uint32_t side = 0;
  std::array<std::optional<std::uint32_t>, 2> children;
  bool operator==(const DoubleTreePlace&) const = default;

  bool leaf() const { return !children[0] && !children[1]; }
};

/// \param node   below `nodes`
/// \param tree   0 or 1: the second is the first mirrored where `nodes` is even, else shifted by
/// one Cost  O(log nodes)
DoubleTreePlace PlaceInTree(std::uint32_t node, std::uint32_t nodes, std::uint32_t tree);

}  // namespace ringlet::plan
