// The options of `ringlet bench init`: parses them and writes them as arguments for workers.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/settings/env_map.hpp"
#include "tool/peers/init_report.hpp"

namespace ringlet::cli {

/// The options as the user typed them.
struct InitWords {
  std::vector<std::uint32_t> ranks = {8};
  std::string mode;  ///< empty: RINGLET_BOOTSTRAP decides
  std::string as = "threads";
  std::uint32_t processes = 0;  ///< 0: as few as the descriptor limit allows
  bool each = false;
  bool leaders = false;
  std::uint32_t roots = 1;
  std::uint32_t iterations = 5;
  std::vector<std::string> peers;
  bool json = false;
  bool worker = false;  ///< this process runs some of the ranks and reports to its launcher
};

/// Adds the options to `command`. Parsing fills `words`, which outlives `command`.
void AddInitOptions(CLI::App& command, InitWords& words);

/// The job of the options for one number of ranks.
struct BootstrapJob {
  InitHead head;
  std::uint32_t iterations = 0;
  std::vector<std::string> peers;
};

/// \param descriptors  descriptor limit of one process
/// \param tree         the value of RINGLET_BOOTSTRAP, with --mode applied
/// Errors  kInvalidArgument  the request is impossible
///         kSystem           too few descriptors; reports the number that is needed
Result<BootstrapJob> ParseInitJob(const InitWords& words, std::uint32_t ranks, bool tree,
                                  std::uint64_t descriptors);

/// Returns the arguments, starting with "bench", that start one of the processes of `job`.
std::vector<std::string> InitWorkerArguments(const BootstrapJob& job);

/// The ranks of process `index`. Blocks are contiguous, and their sizes differ by at most one.
struct RankBlock {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
RankBlock BlockOf(std::uint32_t index, const InitHead& head);

/// Returns the descriptors that the process with the most of them needs while all ranks join.
std::uint64_t DescriptorsNeeded(std::uint32_t ranks, std::uint32_t processes);

/// Returns `environment` with --mode, and with the loopback interface unless the user named
/// another. Loopback suffices because all ranks and peers are on this machine.
EnvMap InitEnvironment(EnvMap environment, const InitWords& words);

}  // namespace ringlet::cli
