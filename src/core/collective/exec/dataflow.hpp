// The order that a schedule leaves open: which steps may run at the same time.
//
// Derive looks at what the steps read and write and notes, for each, the earlier steps that must
// have passed an element before this one may touch it:
//
//   read after write   a chunk is sent on as it was received or reduced
//   write after read   a chunk is not overwritten before it has been sent
//   write after write  the later one wins
//
// All steps work through their elements from the first to the last, so one number a step, the
// elements done, tells where it stands, and Frontier tells how far another may follow: a send runs
// right behind the receive of the same elements, slice by slice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/call/call.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// An earlier step that a step must not overtake.
struct Dependency {
  std::uint32_t step = 0;  ///< index in Flow::steps
  /// The place of the earlier step's first element, counted from the later one's first element, as
  /// far as they touch the same memory.
  std::ptrdiff_t offset = 0;
  bool operator==(const Dependency&) const = default;
};

struct FlowStep {
  Step step;
  std::uint32_t lane = 0;
  std::uint32_t origin = 0;              ///< index in Schedule::steps
  std::uint32_t dependencies_begin = 0;  ///< in Flow::dependencies
  std::uint32_t dependencies_end = 0;
};

/// One direction of one link, or the rank's own work. Its steps run in this order, each after the
/// one before is complete.
struct Lane {
  enum class Direction : std::uint8_t { kSend, kReceive, kLocal };
  Direction direction = Direction::kLocal;
  Rank peer{};
  std::vector<std::uint32_t> steps = {};  ///< indices in Flow::steps, ascending; may be none
};

/// A schedule made ready to run. Immutable, shared by all executions of the same schedule.
struct Flow {
  std::size_t input_count = 0;  ///< elements, as in Schedule
  std::size_t output_count = 0;
  std::size_t scratch_count = 0;
  std::vector<FlowStep> steps = {};
  std::vector<Dependency> dependencies = {};
  std::vector<Lane> lanes = {};

  std::span<const Dependency> DependenciesOf(const FlowStep& step) const {
    return std::span(dependencies)
        .subspan(step.dependencies_begin, step.dependencies_end - step.dependencies_begin);
  }
};

/// Cost  O(steps * segments that a step covers), a segment being what lies between two neighbouring
///       ends of ranges; for a ring every step covers one.
/// Pure. Steps without elements vanish, though not their lanes; so do copies of elements to where
/// they are. All ranges must lie within their buffers.
Flow Derive(const Schedule& schedule, const Overlap& overlap = std::nullopt);

/// How many elements of `step` may be done by now, given how many of each step are.
std::size_t Frontier(const Flow& flow, const FlowStep& step, std::span<const std::size_t> done);

}  // namespace ringlet::collective
