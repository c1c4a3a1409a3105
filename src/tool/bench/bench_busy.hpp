// Programs that compute beside the ranks of a bench, as data loaders and other jobs do.
//
//   ringlet bench busy
//
// computes until it is ended; for our own use, not shown.
#pragma once
#include <CLI/CLI.hpp>

#include <vector>

#include "programs/child.hpp"
#include "ringlet/status.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

void AddBenchBusy(CLI::App& bench, Action& chosen);

/// Starts `count` programs that compute, each on any core. They end when they are destroyed.
/// Errors as os::Child::Start
Result<std::vector<os::Child>> StartBusyPrograms(std::uint32_t count);

}  // namespace ringlet::cli
