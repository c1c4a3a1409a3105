// The table of algorithms. To add an algorithm over links, write a source file that ends with its
// row, and add a line to RINGLET_ALGORITHMS_OVER_LINKS. docs/contributing/extend.md has the steps.
#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collective/algorithm/rails.hpp"
#include "collective/exec/schedule.hpp"
#include "collective/layout/row.hpp"

namespace ringlet::collective {

/// The algorithms over links, without the hierarchical ones. ROW(Ring, ring.cpp) declares the row
/// kRingRow of that source, its entry in the table, and its enumerator kRing.
#define RINGLET_ALGORITHMS_OVER_LINKS(ROW)                               \
  ROW(Ring, ring.cpp)                                                    \
  ROW(Doubling, doubling.cpp) /* recursive doubling */                   \
  ROW(Halving, doubling.cpp)  /* recursive halving, and doubling back */ \
  ROW(Binomial, tree.cpp)                                                \
  ROW(DoubleTree, tree.cpp)                                              \
  ROW(Bruck, bruck.cpp)                                                  \
  ROW(Dissemination, bruck.cpp)                                          \
  ROW(Direct, direct.cpp)

#define RINGLET_DECLARATION(name, source) extern const AlgorithmRow k##name##Row;
RINGLET_ALGORITHMS_OVER_LINKS(RINGLET_DECLARATION)
#undef RINGLET_DECLARATION

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
// clang-format off
#define RINGLET_ENTRY(name, source) &k##name##Row,
    RINGLET_ALGORITHMS_OVER_LINKS(RINGLET_ENTRY)
#undef RINGLET_ENTRY
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
// clang-format on
inline constexpr std::size_t kAlgorithms = kAlgorithmRows.size();
using AlgorithmSet = std::bitset<kAlgorithms>;

/// An index into kAlgorithmRows.
enum class Algorithm : std::uint8_t {
#define RINGLET_ENUMERATOR(name, source) k##name,
  RINGLET_ALGORITHMS_OVER_LINKS(RINGLET_ENUMERATOR)
#undef RINGLET_ENUMERATOR
      kHierarchical,  ///< the first of the six that Hierarchical() returns
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
