// A row of the table of algorithms (algorithm.hpp): the names and functions of one algorithm.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "collective/call/call.hpp"
#include "collective/layout/call_cost.hpp"
#include "collective/layout/call_parts.hpp"
#include "collective/layout/layout.hpp"

namespace ringlet::collective {

/// A kind of call that an algorithm supports.
struct AlgorithmCase {
  CallKind kind;
  /// Returns true if the algorithm can run on this layout. Equal on all ranks.
  bool (*fits)(const Layout& layout);
  /// Builds the parts of one rank. Pure. Null: ShmCollective runs the call through the memory of
  /// one host.
  CallParts (*build)(const Call& call, CallPlace place, const Layout& layout) = nullptr;
  /// Returns the nanoseconds until the last rank is done, if all ranks begin at once. Null if
  /// `build` is null.
  std::uint64_t (*cost)(const CallCost& one) = nullptr;
};

/// The shape that a tuner plug-in of NCCL would call this algorithm.
enum class NcclShape : std::uint8_t { kNone, kRing, kTree };

struct AlgorithmRow {
  std::string_view name;  ///< the name that users write
  std::span<const AlgorithmCase> cases;
  /// Printed by `ringlet explain`; empty except for algorithms through memory.
  std::string_view summary = {};
  NcclShape nccl_shape = NcclShape::kNone;
};

// ---- Building blocks of the rows. ----

inline bool Everywhere(const Layout&) {
  return true;
}
inline bool AmongHosts(const Layout& layout) {
  return layout.groups.size() > 1;
}

/// Builds a call by `schedule(order of the ring, self, count)`.
template <auto schedule>
CallParts OverOrder(const Call& call, CallPlace place, const Layout& layout) {
  return OnePart(schedule(layout.order, place.self, call.count));
}
/// Builds a call with a root by `schedule(order of the ring, self, root, count)`.
template <auto schedule>
CallParts OverOrderWithRoot(const Call& call, CallPlace place, const Layout& layout) {
  return OnePart(schedule(layout.order, place.self, call.root, call.count));
}
/// Builds a call by `schedule({self, ranks}, count)`, which needs no order.
template <auto schedule>
CallParts OverNumbers(const Call& call, CallPlace place, const Layout&) {
  return OnePart(schedule({place.self, place.ranks}, call.count));
}
template <auto schedule>
CallParts OverNumbersWithRoot(const Call& call, CallPlace place, const Layout&) {
  return OnePart(schedule({place.self, place.ranks}, call.root, call.count));
}

/// Returns the time to add up one block of a reduce; 0 for other calls.
inline std::uint64_t ReduceBlockNs(const CallCost& one) {
  return one.call.kind == CallKind::kReduce ? one.Reducing(one.bytes) : 0;
}
/// Returns the time that a reduce-scatter needs to add up a block of each other rank; 0 for other
/// calls.
inline std::uint64_t AddingBlocksNs(const CallCost& one) {
  return one.call.kind == CallKind::kReduceScatter ? (one.ranks - 1) * one.Reducing(one.bytes) : 0;
}

}  // namespace ringlet::collective
