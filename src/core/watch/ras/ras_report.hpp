// The ranks of a job as NCCL's RAS reports them, in text and in JSON, so that programs which read
// `ncclras` read Ringlet too. Pure.
#pragma once
#include <string>
#include <vector>

#include "watch/job.hpp"

namespace ringlet::watch {

/// The part of a report that is not about ranks.
struct RasHeader {
  std::string nccl_version = {};  ///< of the C interface: "2.32.3"
  std::string timestamp = {};     ///< local time: "2026-11-24 15:04:05"
  Instant took{0};                ///< to ask the ranks
  bool verbose = false;           ///< of text: all ranks of a group that differs, however many
};

/// Four parts: the job's processes, its communicators in groups, errors (ranks that do not answer
/// or have failed), warnings (ranks that differ); and what Ringlet finds, if anything. Cost
/// O(ranks)
std::string RasText(const std::vector<JobStatus>& jobs, const RasHeader& header);

/// One object, as NCCL 2.28 and 2.29 write it. Beyond theirs, each communicator has `findings`, and
/// `collective_counts` has all collectives of Ringlet.
std::string RasJson(const std::vector<JobStatus>& jobs, const RasHeader& header);

/// A process of a job, as reports and events name it.
struct RasPeer {
  std::string host = {};
  std::uint32_t pid = 0;
  RankState::Reach reach = RankState::Reach::kHere;  ///< the worst of its ranks'
  std::vector<std::uint32_t> devices = {};           ///< its ranks' numbers among those of its host
  bool operator==(const RasPeer&) const = default;
};
/// By host and pid, each once.
std::vector<RasPeer> RasPeersOf(const std::vector<JobStatus>& jobs);
/// "Process 7 on node alpha managing GPU 0".
std::string ToText(const RasPeer& peer);

}  // namespace ringlet::watch
