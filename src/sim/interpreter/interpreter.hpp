// Proves a set of schedules right without moving a byte.
//
// Elements do not hold numbers. An element holds the index of its input element and the set of
// contributing ranks; addition merges two sets. The ranks run as under the executor, with the same
// freedom: any step admitted by the data flow (dataflow.hpp) may move any number of elements next,
// and links have a capacity. A seed selects the order of events; equal seeds give equal runs. The
// proof checks at all times:
//
//   every element ends with the value required by the call, counted once, divided once
//   an all-reduce gives all ranks the same bits: each element is the same expression everywhere
//   a rank leaves a barrier only after a contribution of all ranks, direct or not
//   no element is touched before an earlier step of the same rank is through with it
//   no unwritten element is read
//   every send has a receive, step by step with equal counts, and nothing is left over
//   no rank waits for ever
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/call/call.hpp"
#include "collective/exec/dataflow.hpp"
#include "collective/exec/schedule.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {

/// A machine word has one bit per rank.
inline constexpr std::size_t kProvableRanksMax = 64;

struct ProofOptions {
  std::uint64_t seed = 1;
  /// Capacity of a link in elements. 0: an element leaves only when the receiver takes it
  /// (rendezvous), the hardest case for deadlock.
  std::size_t link_capacity = 0;
  /// A step moves between 1 and this many elements at a time, at random.
  std::size_t slice_max = 8;
  /// Input and output share memory as defined by InPlaceOffset.
  bool in_place = false;
};

/// Checks that `schedules`, one per rank in rank order, implement `call`. It does not read the
/// buffers of `call`.
///
/// Errors  kInvalidArgument  they do not; the message names rank, step and element, and the defect.
///                           Also for more than kProvableRanksMax ranks.
/// Cost    O(ranks * count) memory; a few visits per element and step.
/// One run with one seed covers one order of events, so call it with several seeds.
Status Prove(const Call& call, std::span<const Schedule> schedules, const ProofOptions& options);

/// As above, with the given flows in place of those from Derive. Proves that they admit no
/// additional order of events.
Status Prove(const Call& call, std::span<const Schedule> schedules, std::span<const Flow> flows,
             const ProofOptions& options);

}  // namespace ringlet::collective
