// Queries the agents of all hosts and collects the facts in their answers.
#pragma once
#include <vector>

#include "doctor/facts.hpp"
#include "tool/doctor/agent_line.hpp"

namespace ringlet::cli {

struct ExaminationOptions {
  Instant timeout = std::chrono::seconds(20);      ///< limit for each answer, including the first
  Instant pair_timeout = std::chrono::seconds(3);  ///< limit for each probe of another host
  bool measure = true;                             ///< measure latency, path MTU and rate
};

/// Examines all hosts at once. The number of steps is fixed, plus log2 of the number of hosts. Each
/// step has a deadline, and hosts that miss it are listed in SetFacts::silent. Several agents on
/// one host, as ranks start them, count as one host with that many ranks.
/// Errors  kSystem  the system does not provide random bytes
Result<doctor::SetFacts> Examine(std::vector<AgentLine> lines, const ExaminationOptions& options);

}  // namespace ringlet::cli
