// The nearness of nodes, by the paths between them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// The bits of a number below `count`, a power of two, in reverse: 1 becomes 2 of four, 3 stays.
std::uint32_t ReverseBits(std::uint32_t value, std::uint32_t count);

/// Of the nodes of `kind`, those to which the path from `node` is widest, and among these of the
/// lowest type; in order.
std::vector<NodeIndex> NearestOf(const Paths& paths, NodeIndex node, NodeKind kind);

/// The nearest NUMA node of a GPU: of the nearest the first with the fewest hops.
std::optional<NodeIndex> NearestCpu(const Paths& paths, NodeIndex gpu);

/// The key by which a GPU chooses its NICs.
struct NearNets {
  std::vector<NodeIndex> nets;  ///< nearest to the GPU
  std::uint32_t per_gpu = 1;    ///< how many of these it uses
  std::uint32_t first = 0;      ///< the first of these

  /// \pre nets is not empty
  NodeIndex For(std::uint32_t channel) const {
    return nets[(first + channel % per_gpu) % nets.size()];
  }
};

/// The GPUs near the first of a GPU's NICs share all of these by NVML's number, spread as bits in
/// reverse where the count is a power of two.
NearNets NearNetsOf(const Paths& paths, NodeIndex gpu, const NetPolicy& policy);

}  // namespace ringlet::topology
