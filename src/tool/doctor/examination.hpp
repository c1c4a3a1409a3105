// A doctor's questions to the agents of all hosts, and the facts that come of them.
#pragma once
#include <vector>

#include "doctor/facts.hpp"
#include "tool/doctor/agent_line.hpp"

namespace ringlet::cli {

struct ExaminationOptions {
  Instant timeout = std::chrono::seconds(20);      ///< of each answer, the first one included
  Instant pair_timeout = std::chrono::seconds(3);  ///< of each probe of another host
  bool measure = true;                             ///< latency, path MTU and rate
};

/// Examines all at once, in a fixed number of steps and log2 of the hosts: each has a deadline, and
/// a host that does not answer becomes one of SetFacts::silent. Several agents of one host, as
/// ranks have them, count as that host with so many ranks.
/// Errors  kSystem  there is no random source
Result<doctor::SetFacts> Examine(std::vector<AgentLine> lines, const ExaminationOptions& options);

}  // namespace ringlet::cli
