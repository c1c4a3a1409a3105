// Layout of a communicator: the order of its ranks, their hosts, and the memory that they share.
// Algorithms use no other facts about the ranks.
#pragma once
#include <cstddef>
#include <vector>

#include "collective/layout/groups.hpp"

namespace ringlet::collective {

/// Minimum number of elements per message between hosts. Among 8 ranks on 4 hosts in namespaces, 8
/// bytes took 0.70 to 0.94 ms in one shard and 0.93 to 1.20 in two, 4 KiB the same with two thirds
/// of the processor time, 16 KiB 10 % more (docs/performance.md).
inline constexpr std::size_t kShardElementsMin = 1024;
/// Minimum number of elements per piece. Sending such a piece takes long compared with the latency
/// between hosts, and a rank's share of it stays in a cache until it is sent to another host.
inline constexpr std::size_t kPieceElementsMin = 256 * 1024;

/// Equal on all ranks.
struct Layout {
  std::vector<Rank> order;  ///< the ring, with each rank once
  Groups groups;            ///< by host
  /// Applies to hierarchical algorithms.
  std::size_t shard_elements_min = kShardElementsMin;
  /// Applies to hierarchical algorithms through the memory of each host.
  std::size_t piece_elements_min = kPieceElementsMin;
  /// Maximum size of the data in a post in the memory that all ranks share. 0: they do not share
  /// memory, and all data travels over links.
  std::size_t post_bytes = 0;
  /// By host, the ranks in ascending order, if there are several hosts and the ranks of each host
  /// share memory. Otherwise empty.
  Groups sharing = {};
};
inline bool SharesMemory(const Layout& layout) {
  return layout.post_bytes > 0;
}

}  // namespace ringlet::collective
