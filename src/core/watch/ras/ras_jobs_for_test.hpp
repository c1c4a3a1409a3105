// Jobs as RAS sees them, for tests.
#pragma once
#include <vector>

#include "watch/job.hpp"

namespace ringlet::watch {

/// Creates one rank per element of `sums`, its number of sums. Two ranks share a host.
inline JobStatus JobForTest(const std::vector<std::uint64_t>& sums) {
  JobStatus job{.communicator = "00000000000000ab",
                .ranks = static_cast<std::uint32_t>(sums.size())};
  for (std::uint32_t rank = 0; rank < sums.size(); ++rank)
    job.states.push_back({.rank = rank,
                          .host = rank < 2 ? "alpha" : "beta",
                          .pid = 100 + rank,
                          .operations = sums[rank],
                          .calls = {{"all_reduce", sums[rank]}}});
  return job;
}

}  // namespace ringlet::watch
