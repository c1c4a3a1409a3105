// What a schedule leaves unsaid: which steps may run at the same time, and where operands lie.
//
// Derive looks at the ranges of the steps and writes down, for each, the earlier steps that must
// have passed an element before this one may touch it:
//
//   read after write   a chunk is sent on as it was received or summed
//   write after read   a chunk is not overwritten before it has been sent
//   write after write  the later one wins
//
// All steps work through their range from its first element to its last, so one number a step, the
// elements done, tells where it stands, and Frontier tells how far another may follow: a send runs
// right behind the receive of the same range, slice by slice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/schedule.hpp"

namespace ringlet::collective {

/// Where a step finds the operand that is already on this rank.
enum class Source : std::uint8_t {
  kInput,   ///< no earlier step has written these elements: they are as the caller gave them
  kOutput,  ///< an earlier step has
};

/// A step of the schedule, or a part of one: where only a part of the elements has been written
/// before, the step is cut, which no peer notices since a link carries bytes, not messages.
struct FlowStep {
  StepKind kind;
  Source source = Source::kInput;  ///< of kSend and kReceiveSum
  bool finishes = false;
  Range range;
  std::uint32_t lane = 0;
  std::uint32_t origin = 0;              ///< index in Schedule::steps
  std::uint32_t dependencies_begin = 0;  ///< in Flow::dependencies
  std::uint32_t dependencies_end = 0;
};

/// One direction of one link. Its steps run in this order, each after the one before is complete.
struct Lane {
  Rank peer{};
  std::uint16_t channel = 0;
  bool sends = false;
  std::vector<std::uint32_t> steps;  ///< indices in Flow::steps, ascending
};

/// A schedule made ready to run. Immutable, shared by all executions of the same schedule.
struct Flow {
  std::size_t count = 0;
  std::vector<FlowStep> steps;
  std::vector<std::uint32_t> dependencies;  ///< indices in `steps`, of earlier steps
  std::vector<Lane> lanes;
  std::vector<Range> untouched;  ///< written by no step: the result there is the input

  std::span<const std::uint32_t> DependenciesOf(const FlowStep& step) const {
    return std::span(dependencies)
        .subspan(step.dependencies_begin, step.dependencies_end - step.dependencies_begin);
  }
};

/// Cost  O(steps * segments that a step covers), a segment being what lies between two neighbouring
///       ends of ranges; for a ring every step covers one.
/// Pure. Steps without elements vanish. All ranges must lie within the buffer.
Flow Derive(const Schedule& schedule);

/// How many elements of `step` may be done by now, given how many of each step are.
std::size_t Frontier(const Flow& flow, const FlowStep& step, std::span<const std::size_t> done);

}  // namespace ringlet::collective
