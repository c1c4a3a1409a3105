// Joins the answers of several processes by communicator, for people and programs. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "watch/status.hpp"

namespace ringlet::watch {

/// A communicator with all known facts about its ranks.
struct JobStatus {
  std::string communicator = {};
  std::uint32_t ranks = 0;
  /// Starts at 1. Communicators that share a process have the same number.
  std::uint32_t job = 1;
  std::vector<RankState> states = {};      ///< by rank, each once
  std::vector<std::string> findings = {};  ///< from FindingsOf
};

/// Ordered by job, then by communicator. A rank's own answer takes precedence over a peer's.
std::vector<JobStatus> JobsOf(const std::vector<ProcessStatus>& processes);

/// Returns the findings, then a table of the ranks of each communicator. With several jobs, each
/// table follows the name of its job.
std::string ToText(const std::vector<JobStatus>& jobs);

/// Returns true if `name` is a prefix of the communicator's name. Accepts the forms in logs:
/// "71c25ab0a4a8a8a1", "commId 71c25ab0", "comm 0x71C25AB0A4A8A8A1".
bool IsNamed(std::string_view communicator, std::string_view name);
/// Returns a list of objects that ends with a newline.
std::string ToJson(const std::vector<JobStatus>& jobs);

}  // namespace ringlet::watch
