// The side of a host that probes others: whether they answer, how quickly, with what packets.
#pragma once
#include <vector>

#include "doctor/facts.hpp"
#include "tool/doctor/probe_server.hpp"

namespace ringlet::cli {

struct ProbeTarget {
  std::uint32_t from = 0, to = 0, nic = 0;  ///< as PairFacts
  Address address;
};

struct ProbeOptions {
  Secret token{};
  Instant timeout = std::chrono::seconds(3);  ///< of each connection
};

/// Connects to all at once, and has one message echoed. Cost  a round trip or two; where one does
/// not answer, the time-out.
std::vector<doctor::PairFacts> ReachAll(const std::vector<ProbeTarget>& targets,
                                        const ProbeOptions& options);

/// Latency, path MTU and rate to one, from the address of the same network where there is one.
/// Cost  0.2 s; where packets are lost, 0.4 s more, and where a connection stands still, the
/// time-out.
doctor::PairFacts MeasurePair(const ProbeTarget& target, const ProbeOptions& options);

}  // namespace ringlet::cli
