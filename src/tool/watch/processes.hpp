// Finds the processes of this host that report their status, and queries them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/value/address.hpp"
#include "ringlet/status.hpp"
#include "watch/job.hpp"

namespace ringlet::cli {

/// One status socket. A process may have several.
struct WatchedProcess {
  std::uint32_t pid = 0;
  Address socket = {};
};

/// Returns the sockets of this user and network namespace with a live process. \param pid  only
/// this process
/// Errors  as os::AbstractNames
Result<std::vector<WatchedProcess>> FindProcesses(std::optional<std::uint32_t> pid);

struct StatusAnswers {
  std::vector<watch::ProcessStatus> processes = {};
  /// Sentences about processes that did not answer.
  std::vector<std::string> silent = {};
};
/// Queries all processes. Then queries one rank of each communicator for ranks that did not answer,
/// such as those of other hosts.
StatusAnswers AskStatus(const std::vector<WatchedProcess>& processes);

}  // namespace ringlet::cli
