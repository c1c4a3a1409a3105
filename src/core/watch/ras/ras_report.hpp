// Reports the ranks of a job in the text and JSON of NCCL's RAS, so that programs that read
// `ncclras` can read Ringlet too. Pure.
#pragma once
#include <string>
#include <vector>

#include "watch/job.hpp"

namespace ringlet::watch {

/// The part of a report without ranks.
struct RasHeader {
  std::string nccl_version = {};  ///< version of the C interface: "2.32.3"
  std::string timestamp = {};     ///< local time: "2026-11-24 15:04:05"
  Instant took{0};                ///< time to query the ranks
  bool verbose = false;           ///< text only: list all differing ranks
};

/// Returns four parts: the job's processes, its communicators in groups, errors (ranks that do not
/// answer or have failed), and warnings (ranks that differ). Ringlet's findings follow, if any.
/// Cost  O(ranks)
std::string RasText(const std::vector<JobStatus>& jobs, const RasHeader& header);

/// Returns one object as NCCL 2.28 and 2.29 write it. In addition, each communicator has
/// `findings`, and `collective_counts` has all collectives of Ringlet.
std::string RasJson(const std::vector<JobStatus>& jobs, const RasHeader& header);

/// A process of a job in reports and events.
struct RasPeer {
  std::string host = {};
  std::uint32_t pid = 0;
  RankState::Reach reach = RankState::Reach::kHere;  ///< the worst of its ranks
  std::vector<std::uint32_t> devices = {};  ///< indices of its ranks among the ranks of its host
  bool operator==(const RasPeer&) const = default;
};
/// By host and pid, each once.
std::vector<RasPeer> RasPeersOf(const std::vector<JobStatus>& jobs);
/// "Process 7 on node alpha managing GPU 0".
std::string ToText(const RasPeer& peer);

}  // namespace ringlet::watch
