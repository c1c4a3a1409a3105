// Runs the ranks of a job on this machine for `run` and `emulate`. Passes their output by line,
// passes input, and reports their ends.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/env_map.hpp"
#include "programs/child.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

inline constexpr std::uint32_t kRunRanksMax = 4096;

/// The variables that give a rank its number, with Ringlet's and torchrun's names.
struct RankIdentity {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t local_rank = 0;   ///< number within the host
  std::uint32_t local_ranks = 0;  ///< number of ranks on the host
  std::string unique_id;          ///< in text form
  std::uint16_t master_port = 0;  ///< for programs with their own rendezvous
};
EnvMap RankEnvironment(EnvMap base, const RankIdentity& place);

/// A program that is started once per rank.
struct RankJob {
  std::string_view command;  ///< the tool's command, for messages: "run"
  std::vector<std::string> program;
  std::uint32_t ranks = 1;
  std::uint32_t hosts = 1;  ///< divides `ranks`; ranks fill hosts in order
  double grace_s = 5;       ///< seconds between SIGTERM and SIGKILL
  bool keep_going = false;  ///< a failed rank does not end the others
  /// Returns the environment of the ranks of a host, without the variables of RankIdentity.
  std::function<EnvMap(std::uint32_t host)> environment;
};

/// Starts the ranks and waits until all have ended. All ranks share a unique id, and rank 0 reads
/// standard input. Each line of output has the number of its rank. When one rank fails, the others
/// are ended, unless keep_going is set.
/// \return the exit status of the tool; errors have been printed
int RunJob(const RankJob& job);

}  // namespace ringlet::cli
