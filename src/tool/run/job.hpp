// The ranks of a job on this machine, shown to the user: their output by line, their input, their
// ends. The common part of `run` and `emulate`.
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

/// The variables that tell a rank its number, in our words and in torchrun's.
struct RankIdentity {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t local_rank = 0;   ///< among those of its host
  std::uint32_t local_ranks = 0;  ///< of its host
  std::string unique_id;          ///< as text
  std::uint16_t master_port = 0;  ///< for programs that bring a rendezvous of their own
};
EnvMap RankEnvironment(EnvMap base, const RankIdentity& place);

/// A program that is started once per rank.
struct RankJob {
  std::string_view command;  ///< of ours, for messages: "run"
  std::vector<std::string> program;
  std::uint32_t ranks = 1;
  std::uint32_t hosts = 1;  ///< divides `ranks`; ranks fill hosts in order
  double grace_s = 5;       ///< between SIGTERM and SIGKILL
  bool keep_going = false;  ///< a rank that ends badly does not end the others
  /// The environment of a rank of this host, without that of RankIdentity.
  std::function<EnvMap(std::uint32_t host)> environment;
};

/// Starts the ranks, and waits until all have ended: a unique id for all, standard input for rank
/// 0, the number of the rank before each line. When one fails the others are ended, unless they are
/// to keep going.
/// \return the exit status of the tool; what went wrong was said
int RunJob(const RankJob& job);

}  // namespace ringlet::cli
