// Computes the nearest nodes by the paths between them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// Reverses the bits of a number below `count`, a power of two: of 4, 1 becomes 2 and 3 stays 3.
std::uint32_t ReverseBits(std::uint32_t value, std::uint32_t count);

/// The nodes of `kind` with the widest path from `node`, in order. Ties: the lowest path type wins.
std::vector<NodeIndex> NearestOf(const Paths& paths, NodeIndex node, NodeKind kind);

/// The nearest NUMA node of a GPU. Ties: the first one with the fewest hops.
std::optional<NodeIndex> NearestCpu(const Paths& paths, NodeIndex gpu);

/// The NICs of a GPU, by channel.
struct NearNets {
  std::vector<NodeIndex> nets;  ///< the NICs nearest to the GPU
  std::uint32_t per_gpu = 1;    ///< number of these that the GPU uses
  std::uint32_t first = 0;      ///< index of the first one in use

  /// \pre nets is not empty
  NodeIndex For(std::uint32_t channel) const {
    return nets[(first + channel % per_gpu) % nets.size()];
  }
};

/// Selects a GPU's NICs. The GPUs near the first NIC share all of them: a GPU's NVML number selects
/// its first NIC, with reversed bits if the number of NICs is a power of two.
NearNets NearNetsOf(const Paths& paths, NodeIndex gpu, const NetPolicy& policy);

}  // namespace ringlet::topology
