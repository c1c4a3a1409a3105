// The layout of a communicator: the order of its ranks, their hosts, and the memory that they
// share. An algorithm knows nothing else of the ranks.
#pragma once
#include <cstddef>
#include <vector>

#include "collective/algorithm/groups.hpp"

namespace ringlet::collective {

/// Elements that are worth a message between hosts of their own. 8 bytes among 8 ranks on 4 hosts
/// in namespaces took 0.70 to 0.94 ms in one shard, 0.93 to 1.20 in two, 4 KiB the same with two
/// thirds of the processor's time, 16 KiB 10 % more (docs/performance.md).
inline constexpr std::size_t kShardElementsMin = 1024;
/// Elements of a piece. A piece is long beside the time from one host to another, and its share of
/// each rank stays in a cache until it goes to another host.
inline constexpr std::size_t kPieceElementsMin = 256 * 1024;

/// The same value on all ranks.
struct Layout {
  std::vector<Rank> order;  ///< of the ring: every rank once
  Groups groups;            ///< by host
  /// Of hierarchical all-reduces.
  std::size_t shard_elements_min = kShardElementsMin;
  /// Of those through the memory of each host.
  std::size_t piece_elements_min = kPieceElementsMin;
  /// The most that a rank can give with a post in the memory that all ranks share; 0: they share
  /// none, and all goes over links.
  std::size_t post_bytes = 0;
  /// The ranks of each of several hosts in ascending order, where those of each host that has
  /// several share memory; else empty.
  Groups sharing = {};
};
inline bool SharesMemory(const Layout& layout) {
  return layout.post_bytes > 0;
}

}  // namespace ringlet::collective
