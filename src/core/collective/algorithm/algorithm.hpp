// The table of algorithms. To add an algorithm, write a source file that ends with its row, and add
// an enumerator and an entry here.
#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collective/algorithm/rails.hpp"
#include "collective/algorithm/row.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

extern const AlgorithmRow kRingRow;
extern const AlgorithmRow kDoublingRow;
extern const AlgorithmRow kHalvingRow;
extern const AlgorithmRow kBinomialRow;
extern const AlgorithmRow kDoubleTreeRow;
extern const AlgorithmRow kBruckRow;
extern const AlgorithmRow kDisseminationRow;
extern const AlgorithmRow kDirectRow;
inline constexpr std::size_t kBetweens = 3;
extern const AlgorithmRow kHierarchicalRows[kBetweens];        // indexed by Between
extern const AlgorithmRow kSharedHierarchicalRows[kBetweens];  // indexed by Between
extern const AlgorithmRow kOneShotRow;
extern const AlgorithmRow kSlicesRow;
extern const AlgorithmRow kZeroCopyRow;
extern const AlgorithmRow kFetchRow;
extern const AlgorithmRow kAdaptiveRow;

/// Algorithms over links are first, algorithms through the memory of one host are last.
inline constexpr std::array kAlgorithmRows = {
    &kRingRow,
    &kDoublingRow,
    &kHalvingRow,
    &kBinomialRow,
    &kDoubleTreeRow,
    &kBruckRow,
    &kDisseminationRow,
    &kDirectRow,
    &kHierarchicalRows[0],
    &kHierarchicalRows[1],
    &kHierarchicalRows[2],
    &kSharedHierarchicalRows[0],
    &kSharedHierarchicalRows[1],
    &kSharedHierarchicalRows[2],
    &kOneShotRow,
    &kSlicesRow,
    &kZeroCopyRow,
    &kFetchRow,
    &kAdaptiveRow,
};
inline constexpr std::size_t kAlgorithms = kAlgorithmRows.size();
using AlgorithmSet = std::bitset<kAlgorithms>;

/// An index into kAlgorithmRows.
enum class Algorithm : std::uint8_t {
  kRing,           ///< ring.hpp
  kDoubling,       ///< doubling.hpp: recursive doubling
  kHalving,        ///< doubling.hpp: recursive halving, and doubling back
  kBinomial,       ///< tree.hpp
  kDoubleTree,     ///< tree.hpp
  kBruck,          ///< bruck.hpp
  kDissemination,  ///< bruck.hpp
  kDirect,         ///< direct.hpp
  kHierarchical,   ///< the first of the six that Hierarchical() returns
  // Algorithms through memory that all ranks of a host share: shm_collective.hpp.
  kOneShot = kHierarchical + 2 * kBetweens,  ///< the post of a call carries its data
  kSlices,                                   ///< pipelined_shm.hpp
  kZeroCopy,  ///< zero_copy_shm.hpp: on registered memory; kSlices if any lacks it
  kFetch,     ///< like kZeroCopy, and the kernel reads unregistered memory
  kAdaptive,  ///< kZeroCopy if all memory is registered; else kSlices or kFetch, see race.hpp
};
static_assert(static_cast<std::size_t>(Algorithm::kAdaptive) == kAlgorithms - 1);

/// The data path within a host in a hierarchical algorithm.
enum class Within : std::uint8_t {
  kLinks,   ///< hierarchy.hpp
  kMemory,  ///< shared_hierarchy.hpp
};
/// Returns the hierarchical algorithm with these ways within and between hosts.
constexpr Algorithm Hierarchical(Within within, Between between) {
  return static_cast<Algorithm>(static_cast<std::size_t>(Algorithm::kHierarchical) +
                                static_cast<std::size_t>(within) * kBetweens +
                                static_cast<std::size_t>(between));
}

inline const AlgorithmRow& RowOf(Algorithm algorithm) {
  return *kAlgorithmRows[static_cast<std::size_t>(algorithm)];
}
inline bool IsOnSharedMemory(Algorithm algorithm) {
  return algorithm >= Algorithm::kOneShot;
}
/// Returns true for algorithms over links between hosts and through memory within each host.
inline bool SharesWithinHosts(Algorithm algorithm) {
  return algorithm >= Hierarchical(Within::kMemory, Between::kRing) && !IsOnSharedMemory(algorithm);
}
/// Returns the algorithm to fall back to if the ranks cannot run `algorithm`, because a rank knows
/// only its own memory. Empty if the ranks can always run it.
std::optional<Algorithm> NextOf(Algorithm algorithm);

/// Returns "ring", "double_tree", ... in static storage.
inline std::string_view Name(Algorithm algorithm) {
  return RowOf(algorithm).name;
}
/// The inverse of Name; ignores case. Empty for any other text.
std::optional<Algorithm> AlgorithmNamed(std::string_view name);

/// The layout of `ranks` ranks that share the memory of one host.
Layout LayoutOnHost(std::uint32_t ranks, std::size_t post_bytes);

/// Returns the algorithms for a call of this kind, in the order of the table: those through shared
/// memory if the ranks share it, otherwise schedules over links. Empty only for messages.
std::vector<Algorithm> AlgorithmsFor(CallKind kind, const Layout& layout);

/// Builds this rank's parts of a call. Pure.
/// \pre  AlgorithmsFor returns the algorithm, and it does not use the memory of one host
CallParts BuildParts(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout);
/// Does the same for an algorithm that makes one schedule. \pre  !SharesWithinHosts(algorithm)
Schedule Build(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout);

/// Returns the time until the last rank is done, if all ranks begin at once. 0 for one rank.
/// \pre  as BuildParts
std::uint64_t TimeNs(Algorithm algorithm, const Call& call, const Layout& layout,
                     const CostModel& model);

}  // namespace ringlet::collective
