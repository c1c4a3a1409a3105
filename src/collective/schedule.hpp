// A schedule is what one rank does in one collective, as data.
//
// Steps stand in program order, and mean what they would mean executed one after the other, except
// that a rank may send and receive at the same time: a step may run as soon as the earlier steps
// that touch the same elements allow it, and steps on one direction of one link keep their order.
// So a schedule can be printed, proven (interpreter.hpp), priced and executed (executor.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringlet/types.hpp"

namespace ringlet::collective {

/// Elements [begin, begin + count) of the collective's buffer on this rank.
struct Range {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::size_t end() const { return begin + count; }
  bool Overlaps(const Range& other) const { return begin < other.end() && other.begin < end(); }
  bool operator==(const Range&) const = default;
};

enum class StepKind : std::uint8_t {
  kSend,        ///< `range` to `peer`
  kReceive,     ///< from `peer` into `range`
  kReceiveSum,  ///< from `peer`, reduced into `range` with the collective's operation
};

struct Step {
  StepKind kind;
  std::uint16_t channel = 0;
  Rank peer{};
  Range range;
  /// The elements of `range` are complete after this step; averages divide here, once. Only steps
  /// that receive finish. What is sent on afterwards is already divided.
  bool finishes = false;
  bool operator==(const Step&) const = default;
};

/// What one rank does. The buffer starts as a copy of the rank's input.
struct Schedule {
  std::size_t count = 0;  ///< elements of the buffer
  std::vector<Step> steps;
  bool operator==(const Schedule&) const = default;
};

/// "receive-sum 16 elements at 32 from rank 3 on channel 0, finishes".
std::string ToText(const Step& step);

/// One step a line, for `ringlet explain` and for test failures.
std::string ToText(const Schedule& schedule);

}  // namespace ringlet::collective
