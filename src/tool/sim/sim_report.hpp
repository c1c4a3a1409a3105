// The outcome of a simulation, as a table and as JSON. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/network.hpp"
#include "tool/sim/sim_options.hpp"

namespace ringlet::cli {

/// The ranks that reported the same words.
struct SimFailure {
  std::string text;                  ///< with "(this rank)" for the speaker
  std::vector<std::uint32_t> ranks;  ///< ascending
  Instant first{0}, last{0};         ///< when the first and the last of them did
};

/// When which part of joining was over; empty: it never was.
struct SimPhases {
  std::optional<Instant> checked_in = {};    ///< the root has heard of all ranks
  std::optional<Instant> roster_first = {};  ///< the first rank has the roster
  std::optional<Instant> roster_last = {};   ///< all have
  std::optional<Instant> connected = {};     ///< the first rank stands, so all are connected
  std::optional<Instant> standing = {};      ///< all stand
};

/// One size.
struct SimRow {
  std::uint32_t ranks = 0, hosts = 0;
  std::uint32_t standing = 0, failed = 0, killed = 0, absent = 0;
  std::uint32_t waiting = 0;  ///< at the end: neither of these
  std::uint32_t steps = 0;    ///< the longest chain of messages until a rank stood
  SimPhases phases = {};
  sim::Traffic root = {};  ///< of the busiest
  sim::Traffic busiest_rank = {};
  std::uint32_t busiest_rank_index = 0;
  sim::HostTraffic busiest_host = {};  ///< over its network card
  std::uint32_t busiest_host_index = 0;
  std::uint64_t bytes = 0;  ///< sent by all ranks and roots together
  std::uint64_t events = 0;
  std::uint64_t trace = 0;                ///< fingerprint of the run
  Instant wall{0};                        ///< the cost of the simulation
  std::uint64_t memory_bytes = 0;         ///< of this process, at the end
  std::vector<SimFailure> failures = {};  ///< most frequent first
  std::uint32_t failures_unsaid = 0;      ///< ranks whose words were too many to keep

  std::uint64_t RootBytes() const { return root.bytes_sent + root.bytes_received; }
  double RootBytesPerHost() const;
};

/// 6 log2(ranks): the aim for steps.
double StepsAim(std::uint32_t ranks);

/// Each with its newline.
std::string SimHeadText(const SimOptions& options);
std::string SimRowText(const SimRow& row);
/// The reports of ranks; empty when no rank failed and none waits.
std::string SimFailuresText(const SimRow& row);

std::string SimJson(const SimOptions& options, const std::vector<SimRow>& rows);

/// Errors kProtocol without a fault not all stand; or a rank still waits although the simulated
///                    time was long enough for every timeout.
Status SimVerdict(const SimOptions& options, const SimRow& row);

}  // namespace ringlet::cli
