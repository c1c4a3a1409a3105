// An algorithm as a row of the table in algorithm.hpp: everything that the library knows of it.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "collective/algorithm/call_cost.hpp"
#include "collective/algorithm/call_parts.hpp"
#include "collective/algorithm/layout.hpp"
#include "collective/call/call.hpp"

namespace ringlet::collective {

/// One kind of call that an algorithm can do.
struct AlgorithmCase {
  CallKind kind;
  /// Whether it can on this layout. The same on all ranks.
  bool (*fits)(const Layout& layout);
  /// One rank's part. Pure. Null: ShmCollective runs it through the memory of one host.
  CallParts (*build)(const Call& call, CallPlace place, const Layout& layout) = nullptr;
  /// The time until the last rank is done, if all begin at once, in nanoseconds. Null with `build`.
  std::uint64_t (*cost)(const CallCost& one) = nullptr;
};

struct AlgorithmRow {
  std::string_view name;  ///< as users write it
  std::span<const AlgorithmCase> cases;
  std::string_view summary = {};  ///< for `ringlet explain`; only of those through memory
};

// ---- for the rows ----

inline bool Everywhere(const Layout&) {
  return true;
}
inline bool AmongHosts(const Layout& layout) {
  return layout.groups.size() > 1;
}

/// From a function of the ranks in the order of the ring.
template <auto schedule>
CallParts OverOrder(const Call& call, CallPlace place, const Layout& layout) {
  return OnePart(schedule(layout.order, place.self, call.count));
}
/// The same for calls with a root.
template <auto schedule>
CallParts OverOrderWithRoot(const Call& call, CallPlace place, const Layout& layout) {
  return OnePart(schedule(layout.order, place.self, call.root, call.count));
}
/// From a function of ranks by their numbers.
template <auto schedule>
CallParts OverNumbers(const Call& call, CallPlace place, const Layout&) {
  return OnePart(schedule({place.self, place.ranks}, call.count));
}
template <auto schedule>
CallParts OverNumbersWithRoot(const Call& call, CallPlace place, const Layout&) {
  return OnePart(schedule({place.self, place.ranks}, call.root, call.count));
}

/// The time to add up one block where the call reduces.
inline std::uint64_t AddingNs(const CallCost& one) {
  return one.call.kind == CallKind::kReduce ? one.Reducing(one.bytes) : 0;
}
/// The same of a reduce-scatter, which adds up a block of each other rank.
inline std::uint64_t AddingBlocksNs(const CallCost& one) {
  return one.call.kind == CallKind::kReduceScatter ? (one.ranks - 1) * one.Reducing(one.bytes) : 0;
}

}  // namespace ringlet::collective
