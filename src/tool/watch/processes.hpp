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

/// Returns the sockets of live processes of this user and network namespace. \param pid  null: all
/// Errors  as os::AbstractNames
Result<std::vector<WatchedProcess>> FindProcesses(std::optional<std::uint32_t> pid);

struct StatusAnswers {
  std::vector<watch::ProcessStatus> processes = {};
  /// Sentences about processes that did not answer.
  std::vector<std::string> silent = {};
};
/// Queries all processes, then one rank of each communicator about ranks that did not answer, such
/// as those of other hosts.
StatusAnswers QueryStatus(const std::vector<WatchedProcess>& processes);

}  // namespace ringlet::cli
