// The answers of several processes joined by communicator, as people and programs read them. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "watch/status.hpp"

namespace ringlet::watch {

/// A communicator with what is known of all its ranks.
struct JobStatus {
  std::string communicator = {};
  std::uint32_t ranks = 0;
  /// Communicators with a process in common have the same number, from 1.
  std::uint32_t job = 1;
  std::vector<RankState> states = {};      ///< by rank, each once
  std::vector<std::string> findings = {};  ///< of FindingsOf
};

/// By job, then by communicator. A rank's own answer counts more than that of a peer.
std::vector<JobStatus> JobsOf(const std::vector<ProcessStatus>& processes);

/// The findings, then a table of the ranks of each communicator, below the name of its job if there
/// are several.
std::string ToText(const std::vector<JobStatus>& jobs);

/// Whether `name` is the beginning of the name of a communicator, as a user may have found it in a
/// log: "71c25ab0a4a8a8a1", "commId 71c25ab0", "comm 0x71C25AB0A4A8A8A1".
bool IsNamed(std::string_view communicator, std::string_view name);
/// A list of objects, with a newline at its end.
std::string ToJson(const std::vector<JobStatus>& jobs);

}  // namespace ringlet::watch
