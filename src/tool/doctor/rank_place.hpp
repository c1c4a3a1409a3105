// Runs the doctor as ranks of a launcher. Each rank is an agent, and rank 0 queries them.
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
  std::string meet;  ///< the address at which rank 0 listens: "host:port"
  Credentials credentials = {};
};

/// Reads the rank of this process from the variables of `ringlet run` and torchrun (RANK,
/// WORLD_SIZE), Open MPI, MPICH, or srun with several tasks. Returns null if no launcher started
/// this process. Rank 0 listens at NCCL_COMM_ID, or at MASTER_ADDR and MASTER_PORT, or at the
/// address in srun's list of hosts, or on loopback if the job has one host. RINGLET_SECRET or
/// RINGLET_UNIQUE_ID proves that ranks belong together.
/// Errors  kInvalidArgument  names the variable that does not parse, or the missing address
Result<std::optional<JobRank>> JobRankOf(const EnvMap& environment);

struct ConnectedRanks {
  std::vector<AgentLine> lines;
  std::vector<std::uint32_t> missing;
};

/// Waits on rank 0 until all others have connected, or `until`. Closes connections of strangers.
/// Errors  kSystem, kInvalidArgument  it cannot listen at the address
Result<ConnectedRanks> ConnectRanks(const JobRank& place, Instant until);

/// Connects another rank to rank 0. Retries until rank 0 answers.
/// Errors  kTimeout  reports the last failure; kProtocol  rank 0 has another secret
Result<os::Fd> CallRankZero(const JobRank& place, Instant until);

}  // namespace ringlet::cli
