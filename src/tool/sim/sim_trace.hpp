// Formats the phases of some ranks in simulated time as JSON for chrome://tracing and Perfetto.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tool/sim/sim_report.hpp"

namespace ringlet::cli {

/// One rank in the trace.
struct TracedRank {
  std::uint32_t rank = 0;
  std::uint32_t host = 0;
  Instant start{0};
  std::optional<Instant> roster = {}, standing = {}, failed = {};  ///< null: not reached
  std::string failure = {};                                        ///< reason of `failed`
};

/// Selects the ranks to show: all if there are few; else the first ones, some from the whole range,
/// and those in `always`. Ascending.
std::vector<std::uint32_t> RanksToTrace(std::uint32_t size, std::vector<std::uint32_t> always);

/// Returns one line for the job, one process per host and one thread per rank.
std::string ChromeTrace(const SimPhases& phases, const std::vector<TracedRank>& ranks);

}  // namespace ringlet::cli
