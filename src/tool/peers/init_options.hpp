// The options of `ringlet bench init`: from the command line, and back, for its workers.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/settings/env_map.hpp"
#include "tool/peers/init_report.hpp"

namespace ringlet::cli {

/// As typed.
struct InitWords {
  std::vector<std::uint32_t> ranks = {8};
  std::string mode;  ///< empty: RINGLET_BOOTSTRAP decides
  std::string as = "threads";
  std::uint32_t processes = 0;  ///< 0: as few as descriptors allow
  bool each = false;
  bool leaders = false;
  std::uint32_t roots = 1;
  std::uint32_t iterations = 5;
  std::vector<std::string> peers;
  bool json = false;
  bool worker = false;  ///< this process holds some of the ranks and reports to its launcher
};

/// Adds the options to `command`; parsing fills `words`, which outlives it.
void AddInitOptions(CLI::App& command, InitWords& words);

/// The meaning of the words for one number of ranks.
struct BootstrapJob {
  InitHead head;
  std::uint32_t iterations = 0;
  std::vector<std::string> peers;
};

/// \param descriptors  that one process may have open
/// \param tree         what RINGLET_BOOTSTRAP says, with --mode applied
/// Errors  kInvalidArgument  what is asked for cannot be had; kSystem  too few descriptors: says
/// how
///         many are needed.
Result<BootstrapJob> ParseInitJob(const InitWords& words, std::uint32_t ranks, bool tree,
                                  std::uint64_t descriptors);

/// The arguments, from "bench" on, that make the tool one of the processes of `job`.
std::vector<std::string> InitWorkerArguments(const BootstrapJob& job);

/// The ranks of process `index` of `processes`: contiguous blocks that differ by one at most.
struct RankBlock {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
RankBlock BlockOf(std::uint32_t index, const InitHead& head);

/// Descriptors that the process with most of them has open while all ranks join.
std::uint64_t DescriptorsNeeded(std::uint32_t ranks, std::uint32_t processes);

/// `environment` with --mode in it, and with the loopback interface as the one to use unless the
/// user has named another: all ranks are on this machine, and so are the peers that it is compared
/// with.
EnvMap InitEnvironment(EnvMap environment, const InitWords& words);

}  // namespace ringlet::cli
