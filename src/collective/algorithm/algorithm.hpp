// The algorithms by name, and which schedule each is for a call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collective/algorithm/hierarchy.hpp"
#include "collective/call/call.hpp"
#include "collective/call/groups.hpp"
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
};
inline constexpr std::size_t kAlgorithms = 11;

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
};

/// What can do a call of this kind, in the order of the enumerators; at least one, but none for
/// messages, which are no schedules.
std::vector<Algorithm> AlgorithmsFor(CallKind kind, const Layout& layout);

/// This rank's schedule. Pure. \pre  AlgorithmsFor has it
Schedule Build(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout);

}  // namespace ringlet::collective
