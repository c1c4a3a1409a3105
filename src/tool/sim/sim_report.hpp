// Formats the outcome of a simulation as a table and as JSON. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/network.hpp"
#include "tool/sim/sim_options.hpp"

namespace ringlet::cli {

/// Ranks that reported the same failure.
struct SimFailure {
  std::string text;                  ///< "(this rank)" replaces the reporting rank
  std::vector<std::uint32_t> ranks;  ///< ascending
  Instant first{0}, last{0};         ///< times of the first and the last report
};

/// Times at which the phases of joining ended; null: not reached. A rank that stands has joined.
struct SimPhases {
  std::optional<Instant> checked_in = {};    ///< all ranks have checked in at the root
  std::optional<Instant> roster_first = {};  ///< the first rank has the roster
  std::optional<Instant> roster_last = {};   ///< all ranks have the roster
  std::optional<Instant> connected = {};     ///< the first rank stands, so all are connected
  std::optional<Instant> standing = {};      ///< all ranks stand
};

/// The result for one number of ranks.
struct SimRow {
  std::uint32_t ranks = 0, hosts = 0;
  std::uint32_t standing = 0, failed = 0, killed = 0, absent = 0;
  std::uint32_t waiting = 0;  ///< in none of these states at the end
  std::uint32_t steps = 0;    ///< the longest chain of messages until a rank stood
  SimPhases phases = {};
  sim::Traffic root = {};  ///< traffic of the busiest root
  sim::Traffic busiest_rank = {};
  std::uint32_t busiest_rank_index = 0;
  sim::HostTraffic busiest_host = {};  ///< traffic of its network card
  std::uint32_t busiest_host_index = 0;
  std::uint64_t bytes = 0;  ///< total sent by all ranks and roots
  std::uint64_t events = 0;
  std::uint64_t trace = 0;                ///< fingerprint of the run
  Instant wall{0};                        ///< duration of the simulation itself
  std::uint64_t memory_bytes = 0;         ///< memory of this process at the end
  std::vector<SimFailure> failures = {};  ///< most frequent first
  std::uint32_t failures_unsaid = 0;      ///< ranks with failures beyond the number that is kept

  std::uint64_t RootBytes() const { return root.bytes_sent + root.bytes_received; }
  double RootBytesPerHost() const;
};

/// Returns the target for steps: 6 log2(ranks).
double StepsTarget(std::uint32_t ranks);

/// Each text ends with a newline.
std::string SimHeadText(const SimOptions& options);
std::string SimRowText(const SimRow& row);
/// Returns the reports of ranks; empty if no rank failed or waits.
std::string SimFailuresText(const SimRow& row);

std::string SimJson(const SimOptions& options, const std::vector<SimRow>& rows);

/// Errors kProtocol  not all ranks stand although there is no fault; or a rank still waits although
/// the simulated time was long enough for every timeout.
Status SimVerdict(const SimOptions& options, const SimRow& row);

}  // namespace ringlet::cli
