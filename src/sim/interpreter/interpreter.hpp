// Proves a set of schedules right without moving a byte.
//
// Instead of numbers, elements carry which element of the input they stand for and the set of ranks
// that have contributed; adding merges two sets. The ranks run as the executor would run them, with
// the freedom it has: any step that the data flow (dataflow.hpp) admits may move any number of
// elements next, and links hold only so much. A seed chooses; the same seed, the same run. Checked
// all along:
//
//   every element ends as the call wants it, counted once, divided once
//   an all-reduce gives all ranks the same bits: each element is the same expression everywhere
//   a rank that comes out of a barrier has heard of all ranks, directly or not
//   no element is touched before an earlier step of the same rank is through with it
//   nothing is read that no step has written
//   what is sent is received, step by step with equal counts, and nothing is left over
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

/// One bit a rank in a machine word.
inline constexpr std::size_t kProvableRanksMax = 64;

struct ProofOptions {
  std::uint64_t seed = 1;
  /// Elements that a link holds between sender and receiver. 0: an element leaves only when the
  /// receiver takes it (rendezvous), the hardest case for deadlock.
  std::size_t link_capacity = 0;
  /// Elements that a step may move at a time, 1 to this many by chance.
  std::size_t slice_max = 8;
  /// Input and output share memory as InPlaceOffset says.
  bool in_place = false;
};

/// Checks that `schedules`, one per rank in rank order, do what `call` says; its buffers are not
/// looked at.
///
/// Errors  kInvalidArgument  they do not; the sentence names rank, step and element, and what is
///                           wrong. Also for more than kProvableRanksMax ranks.
/// Cost    O(ranks * count) memory; every element of every step is looked at a few times.
/// One run with one seed shows one order of events: call with several.
Status Prove(const Call& call, std::span<const Schedule> schedules, const ProofOptions& options);

/// The same with the given flows in place of what Derive makes of each schedule: proves that they
/// admit no order of events that the schedules do not.
Status Prove(const Call& call, std::span<const Schedule> schedules, std::span<const Flow> flows,
             const ProofOptions& options);

}  // namespace ringlet::collective
