// Probes other hosts: tests if they answer, how quickly, and with what packet sizes.
#pragma once
#include <vector>

#include "doctor/facts.hpp"
#include "tool/doctor/probe_server.hpp"

namespace ringlet::cli {

struct ProbeTarget {
  std::uint32_t from = 0, to = 0, nic = 0;  ///< as in PairFacts
  Address address;
};

struct ProbeOptions {
  Secret token{};
  Instant timeout = std::chrono::seconds(3);  ///< limit for each connection
};

/// Connects to all targets at once and sends each one message, which the target echoes.
/// Cost  one or two round trips; if a target does not answer, the timeout
std::vector<doctor::PairFacts> ProbeAll(const std::vector<ProbeTarget>& targets,
                                        const ProbeOptions& options);

/// Measures latency, path MTU and rate to one target, from an address in its network if possible.
/// Cost  0.2 s; if packets are lost, 0.4 s more; if a connection stalls, the timeout
doctor::PairFacts MeasurePair(const ProbeTarget& target, const ProbeOptions& options);

}  // namespace ringlet::cli
