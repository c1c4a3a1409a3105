// Dataflow: finds the steps of a schedule that may run at the same time.
//
// Derive compares the elements that steps read and write. For each step it records the earlier
// steps that must process an element before the step may touch it:
//
//   read after write   a chunk is sent after it was received or reduced
//   write after read   a chunk is overwritten only after it was sent
//   write after write  the later step wins
//
// All steps process their elements from first to last. So one number per step, its completed
// elements, describes its progress, and Frontier computes how far a dependent step may follow: a
// send runs directly behind the receive of the same elements, slice by slice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/call/call.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// An earlier step that a later step must not overtake.
struct Dependency {
  std::uint32_t step = 0;  ///< index in Flow::steps
  /// Position of the earlier step's first element relative to the later step's first element, where
  /// they touch the same memory.
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

/// One direction of one link, or the rank's local work. Its steps run in order, one after the
/// other.
struct Lane {
  enum class Direction : std::uint8_t { kSend, kReceive, kLocal };
  Direction direction = Direction::kLocal;
  Rank peer{};
  std::vector<std::uint32_t> steps = {};  ///< indices in Flow::steps, ascending; may be empty
};

/// A schedule prepared for execution. Immutable and shared by all executions of the schedule.
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

/// Pure. Drops steps without elements, but not their lanes, and drops copies of elements to
/// themselves. All ranges must lie within their buffers.
/// Cost  O(steps * segments that a step covers). A segment lies between two neighbouring ends of
///       ranges. In a ring, every step covers one segment.
Flow Derive(const Schedule& schedule, const Overlap& overlap = std::nullopt);

/// Returns how many elements of `step` may be done, given the number of done elements per step.
std::size_t Frontier(const Flow& flow, const FlowStep& step, std::span<const std::size_t> done);

}  // namespace ringlet::collective
