// The phases of some ranks in simulated time, as the JSON that chrome://tracing and Perfetto read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tool/sim/sim_report.hpp"

namespace ringlet::cli {

/// One rank that is shown.
struct TracedRank {
  std::uint32_t rank = 0;
  std::uint32_t host = 0;
  Instant start{0};
  std::optional<Instant> roster = {}, standing = {}, failed = {};  ///< empty: it never came so far
  std::string failure = {};                                        ///< why
};

/// Which ranks to show of so many: all of a few; of many the first ones, some from all over, and
/// those in `always`. Ascending.
std::vector<std::uint32_t> RanksToTrace(std::uint32_t size, std::vector<std::uint32_t> always);

/// A line for the job, one process for each host and one thread for each rank in it.
std::string ChromeTrace(const SimPhases& phases, const std::vector<TracedRank>& ranks);

}  // namespace ringlet::cli
