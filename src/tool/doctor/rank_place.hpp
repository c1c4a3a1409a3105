// The doctor as ranks of a launcher: each rank is an agent, and rank 0 asks them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/settings/env_map.hpp"
#include "base/wire/handshake.hpp"
#include "tool/doctor/agent_line.hpp"

namespace ringlet::cli {

struct JobRank {
  std::uint32_t rank = 0, ranks = 1;
  std::string meet;  ///< where rank 0 listens: "host:port"
  Credentials credentials = {};
};

/// By the variables of `ringlet run` and torchrun (RANK, WORLD_SIZE), Open MPI, MPICH, or srun with
/// several tasks; nothing: no launcher started this process. Rank 0 listens at NCCL_COMM_ID, else
/// at MASTER_ADDR and MASTER_PORT, else, of a job of one host, on loopback; srun's list of hosts
/// names it as well. RINGLET_SECRET or RINGLET_UNIQUE_ID proves that ranks belong together.
/// Errors  kInvalidArgument  a variable makes no sense, or the place is not known: says which
Result<std::optional<JobRank>> JobRankOf(const EnvMap& environment);

struct MetRanks {
  std::vector<AgentLine> lines;
  std::vector<std::uint32_t> missing;
};

/// On rank 0: waits for the others, until all have come or `until`. Strangers are hung up on.
/// Errors  kSystem, kInvalidArgument  it cannot listen there
Result<MetRanks> MeetRanks(const JobRank& place, Instant until);

/// On another rank: calls rank 0 until it answers.
/// Errors  kTimeout  says what came of it last; kProtocol  another secret
Result<os::Fd> CallRankZero(const JobRank& place, Instant until);

}  // namespace ringlet::cli
