// How long an algorithm takes: a model of a few numbers, to choose by and to explain the choice.
//
// It knows two kinds of links, within a host and between hosts, and that the ranks of a host share
// what leads out of it. It is coarse: two algorithms that it finds within a fifth of each other are
// as good as each other. In integers, so that all ranks choose alike. Pure.
#pragma once
#include <cstddef>
#include <cstdint>

#include "collective/algorithm/algorithm.hpp"
#include "collective/call/call.hpp"

namespace ringlet::collective {

/// One kind of link.
struct LinkCost {
  std::uint64_t latency_ns = 0;  ///< from a sender that has something to a receiver that acts on it
  std::uint64_t overhead_ns = 0;  ///< of a processor for each message it sends or receives
  std::uint32_t mb_per_s = 1;     ///< of one rank within a host, of all of a host between hosts
  bool operator==(const LinkCost&) const = default;
};

struct CostModel {
  /// Shared memory between ranks that each have a core.
  LinkCost local{.latency_ns = 1'000, .overhead_ns = 400, .mb_per_s = 5'000};
  /// TCP over Ethernet of 10 Gb/s.
  LinkCost remote{.latency_ns = 25'000, .overhead_ns = 5'000, .mb_per_s = 1'200};
  std::uint32_t reduce_mb_per_s = 10'000;  ///< of one rank, bytes of one operand
  bool operator==(const CostModel&) const = default;
};

/// The time until the last rank is done, if all begin at once.
/// \pre  AlgorithmsFor has the algorithm
std::uint64_t TimeNs(Algorithm algorithm, const Call& call, const Layout& layout,
                     const CostModel& model);

}  // namespace ringlet::collective
