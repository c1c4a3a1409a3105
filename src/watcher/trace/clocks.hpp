// The clocks of several hosts compared by what their ranks did together: no rank ends a collective
// that needs all ranks before the last one has begun it.
#pragma once
#include <vector>

#include "watch/rank_trace.hpp"

namespace ringlet::watch {

/// To be added to a rank's times, to have them by the clock of the first rank.
struct ClockShift {
  Instant shift{0};
  /// How far it may be off either way; empty: unknown, and the shift is that of the hosts' clocks.
  std::optional<Instant> error = Instant(0);
  bool operator==(const ClockShift&) const = default;
};

/// One for each trace. Ranks of one host share their clock, and have a shift together. \param
/// traces of one communicator
/// Cost  O(operations)
std::vector<ClockShift> AlignClocks(const std::vector<RankTrace>& traces);

}  // namespace ringlet::watch
