// Aligns the clocks of several hosts by their common operations: no rank ends a collective that
// needs all ranks before the last one has begun it.
#pragma once
#include <vector>

#include "watch/rank_trace.hpp"

namespace ringlet::watch {

/// Value to add to a rank's times for the clock of the first rank.
struct ClockShift {
  Instant shift{0};
  /// Bound on the error, either way. Empty: unknown; the shift is then the hosts' clocks'.
  std::optional<Instant> error = Instant(0);
  bool operator==(const ClockShift&) const = default;
};

/// Returns one shift per trace. Ranks of one host share their clock and their shift.
/// \param traces  of one communicator
/// Cost  O(operations)
std::vector<ClockShift> AlignClocks(const std::vector<RankTrace>& traces);

}  // namespace ringlet::watch
