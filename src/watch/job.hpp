// The answers of several processes joined by communicator, as people and programs read them. Pure.
#pragma once
#include <string>
#include <vector>

#include "watch/status.hpp"

namespace ringlet::watch {

/// A communicator with what is known of all its ranks.
struct JobStatus {
  std::string communicator = {};
  std::uint32_t ranks = 0;
  std::vector<RankState> states = {};      ///< by rank, each once
  std::vector<std::string> findings = {};  ///< of FindingsOf
};

/// By communicator. A rank's own answer counts more than that of a peer.
std::vector<JobStatus> JobsOf(const std::vector<ProcessStatus>& processes);

/// A table of the ranks, and the findings.
std::string ToText(const JobStatus& job);
/// A list of objects, with a newline at its end.
std::string ToJson(const std::vector<JobStatus>& jobs);

}  // namespace ringlet::watch
