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
extern const AlgorithmRow kHierarchicalRows[kBetweens];        // by Between
extern const AlgorithmRow kSharedHierarchicalRows[kBetweens];  // by Between
extern const AlgorithmRow kOneShotRow;
extern const AlgorithmRow kSlicesRow;
extern const AlgorithmRow kZeroCopyRow;
extern const AlgorithmRow kFetchRow;

/// Algorithms over links come first, algorithms through the memory of one host last.
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
};
inline constexpr std::size_t kAlgorithms = kAlgorithmRows.size();
using AlgorithmSet = std::bitset<kAlgorithms>;

/// A place in kAlgorithmRows.
enum class Algorithm : std::uint8_t {
  kRing,           ///< ring.hpp
  kDoubling,       ///< doubling.hpp: recursive doubling
  kHalving,        ///< doubling.hpp: recursive halving, and doubling back
  kBinomial,       ///< tree.hpp
  kDoubleTree,     ///< tree.hpp
  kBruck,          ///< bruck.hpp
  kDissemination,  ///< bruck.hpp
  kDirect,         ///< direct.hpp
  kHierarchical,   ///< the first of the six that Hierarchical() gives
  // Through memory that all ranks of a host share: shm_collective.hpp.
  kOneShot = kHierarchical + 2 * kBetweens,  ///< the data travel with the call
  kSlices,                                   ///< pipelined_shm.hpp
  kZeroCopy,  ///< zero_copy_shm.hpp: on registered memory itself; where not all have that, kSlices
  kFetch,     ///< the same, and the kernel reads memory that is not registered
};
static_assert(static_cast<std::size_t>(Algorithm::kFetch) == kAlgorithms - 1);

/// The way of data within a host in a hierarchical algorithm.
enum class Within : std::uint8_t {
  kLinks,   ///< hierarchy.hpp
  kMemory,  ///< shared_hierarchy.hpp
};
/// The hierarchical algorithm that moves data so within hosts and between them.
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
/// Between hosts, and through memory within them.
inline bool SharesWithinHosts(Algorithm algorithm) {
  return algorithm >= Hierarchical(Within::kMemory, Between::kRing) && !IsOnSharedMemory(algorithm);
}
/// The algorithm that runs a call for which the ranks cannot use the given one, each of which knows
/// only its own memory; empty: it is never refused.
std::optional<Algorithm> NextOf(Algorithm algorithm);

/// "ring", "double_tree", ... Static storage.
inline std::string_view Name(Algorithm algorithm) {
  return RowOf(algorithm).name;
}
/// The inverse, in upper or lower case. Empty for anything else.
std::optional<Algorithm> AlgorithmNamed(std::string_view name);

/// Of so many ranks that share the memory of one host.
Layout LayoutOnHost(std::uint32_t ranks, std::size_t post_bytes);

/// The algorithms for a call of this kind, in the order of the table; at least one, but none for
/// messages. Of ranks that share memory, the ways through that; else schedules over links.
std::vector<Algorithm> AlgorithmsFor(CallKind kind, const Layout& layout);

/// This rank's parts of a call. Pure. \pre  AlgorithmsFor has the algorithm, and it is not on the
/// memory of one host
CallParts BuildParts(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout);
/// The same of an algorithm whose parts are one schedule. \pre  !SharesWithinHosts(algorithm)
Schedule Build(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout);

/// The time until the last rank is done, if all begin at once; 0 for one rank.
/// \pre  as BuildParts
std::uint64_t TimeNs(Algorithm algorithm, const Call& call, const Layout& layout,
                     const CostModel& model);

}  // namespace ringlet::collective
