// The algorithms by name, and which schedule each is for a call.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collective/algorithm/hierarchy.hpp"
#include "collective/algorithm/shared_hierarchy.hpp"
#include "collective/call/call.hpp"
#include "collective/algorithm/groups.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

enum class Algorithm : std::uint8_t {
  kRing,           ///< ring.hpp
  kDoubling,       ///< doubling.hpp: recursive doubling
  kHalving,        ///< doubling.hpp: recursive halving, and doubling back
  kBinomial,       ///< tree.hpp
  kDoubleTree,     ///< tree.hpp
  kBruck,          ///< bruck.hpp
  kDissemination,  ///< bruck.hpp
  kDirect,         ///< direct.hpp
  kHierarchical,   ///< hierarchy.hpp, with rings between hosts where it has a choice
  kHierarchicalDoubling,
  kHierarchicalDirect,
  kHierarchicalShared,  ///< shared_hierarchy.hpp, the same three ways between hosts
  kHierarchicalSharedDoubling,
  kHierarchicalSharedDirect,
  // Ways through memory that all ranks of a host share: shm_collective.hpp. No schedules.
  kOneShot,   ///< the data travel with the call
  kSlices,    ///< pipelined_shm.hpp: through stages, slice by slice
  kZeroCopy,  ///< zero_copy_shm.hpp: on registered memory itself; where not all have that, kSlices
  kFetch,     ///< the same, and the kernel reads memory that is not registered
};
inline constexpr std::size_t kAlgorithms = 18;
using AlgorithmSet = std::bitset<kAlgorithms>;

inline bool IsOnSharedMemory(Algorithm algorithm) {
  return algorithm >= Algorithm::kOneShot;
}
/// Between hosts, and through memory within them.
inline bool SharesWithinHosts(Algorithm algorithm) {
  return algorithm >= Algorithm::kHierarchicalShared && !IsOnSharedMemory(algorithm);
}
/// The algorithm that runs a call for which the ranks cannot use the given one, each of which knows
/// only its own memory; empty: it is never refused.
std::optional<Algorithm> NextOf(Algorithm algorithm);

/// "ring", "double_tree", ... Static storage.
std::string_view Name(Algorithm algorithm);
/// The inverse, in upper or lower case. Empty for anything else.
std::optional<Algorithm> AlgorithmNamed(std::string_view name);

/// How the ranks of a communicator lie. The same value on all of them.
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
/// Of so many ranks that share the memory of one host.
Layout LayoutOnHost(std::uint32_t ranks, std::size_t post_bytes);

/// The algorithms for a call of this kind, in the order of the enumerators; at least one, but none
/// for messages. Of ranks that share memory, the ways through that; else schedules over links.
std::vector<Algorithm> AlgorithmsFor(CallKind kind, const Layout& layout);

/// This rank's schedule. Pure. \pre  AlgorithmsFor has it, and all of it goes over links
Schedule Build(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout);
/// Into how many shards such an algorithm cuts what each host has: as many as the host has ranks,
/// where all have the same number and each shard has `shard_elements_min`; else 1.
/// \pre  SharesWithinHosts(its algorithm), no broadcast or reduce
std::size_t SharedShardsOf(const Call& call, const Layout& layout);
/// Into how many pieces such an algorithm cuts a long message, each of `piece_elements_min` or
/// more.
std::size_t SharedPiecesOf(const Call& call, const Layout& layout);
/// The same for those that are not on the memory of one host; what Build gives is one part.
CallParts BuildParts(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout);

}  // namespace ringlet::collective
