// Programs that load the processors beside the ranks of a bench, as data loaders and other jobs do.
//
//   ringlet bench busy
//
// computes until a signal ends it. The help omits this command, because only the bench uses it.
#pragma once
#include <CLI/CLI.hpp>

#include <vector>

#include "programs/child.hpp"
#include "ringlet/status.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

void AddBenchBusy(CLI::App& bench, Action& chosen);

/// Starts `count` programs that compute, each on any core. The programs end when the returned
/// objects are destroyed. Errors as os::Child::Start
Result<std::vector<os::Child>> StartBusyPrograms(std::uint32_t count);

}  // namespace ringlet::cli
