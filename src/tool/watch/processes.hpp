// The processes of this host that can be asked for their status, and their answers.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/value/address.hpp"
#include "ringlet/status.hpp"
#include "watch/job.hpp"

namespace ringlet::cli {

/// One status socket; a process may have several.
struct WatchedProcess {
  std::uint32_t pid = 0;
  Address socket = {};
};

/// Those of this user and network namespace whose process lives. \param pid  only of that process
/// Errors  as os::AbstractNames
Result<std::vector<WatchedProcess>> FindProcesses(std::optional<std::uint32_t> pid);

struct StatusAnswers {
  std::vector<watch::ProcessStatus> processes = {};
  /// Sentences about those that did not answer.
  std::vector<std::string> silent = {};
};
/// Asks all of them, and one rank of each communicator for those of its ranks that did not answer,
/// as are ranks of other hosts.
StatusAnswers AskStatus(const std::vector<WatchedProcess>& processes);

}  // namespace ringlet::cli
