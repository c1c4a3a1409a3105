// The options of `ringlet sim init`.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "bootstrap/protocol.hpp"
#include "tool/sim/sim_faults.hpp"

namespace ringlet::cli {

/// As typed.
struct SimWords {
  std::string ranks = "1024";
  std::uint32_t ranks_per_host = 8;
  std::uint32_t hosts = 0;  ///< 0: as many as ranks_per_host makes
  std::string latency = "20us";
  std::string jitter = "0";
  std::string local_latency = "5us";
  std::string bandwidth = "10Gb/s";
  std::string cpu = "0";
  std::string cpu_per_kib = "0";
  std::string spread = "0";
  std::string mode = "tree";
  std::uint32_t arity = 8;
  std::uint32_t roots = 1;
  bool each = false;
  std::string heartbeat = "60s";
  std::string faults;
  std::uint64_t seed = 1;
  std::string timeout = "300s";
  std::string until;
  bool json = false;
  std::string trace;
};

/// Adds the options to `command`; parsing fills `words`, which outlives it.
void AddSimOptions(CLI::App& command, SimWords& words);

struct SimOptions {
  std::vector<std::uint32_t> sizes;  ///< numbers of ranks, each its own simulation
  std::uint32_t ranks_per_host = 8;
  std::uint32_t hosts = 0;  ///< 0: as many as ranks_per_host makes
  Instant latency{0};       ///< between hosts, one way
  Instant jitter{0};        ///< up to so much is added to it, drawn anew for each message
  Instant local_latency{0};
  std::uint64_t mb_per_s = 0;  ///< of each host's network card; 0: unlimited
  Instant cpu_per_event{0};
  Instant cpu_per_kib{0};
  Instant spread{0};  ///< ranks start at random within this time
  bootstrap::Shape shape = bootstrap::Shape::kTree;
  std::uint16_t arity = 8;
  std::uint32_t roots = 1;
  bool each = false;  ///< every rank checks in for itself, not the first of a host for all of it
  Instant silence_max{0};
  FaultPlan faults;
  std::string faults_text;  ///< as typed
  std::uint64_t seed = 1;
  Instant timeout{0};
  Instant until{0};  ///< 0: twice the timeout after the last fault
  bool json = false;
  std::string trace;  ///< file name; empty: none

  std::uint32_t HostsOf(std::uint32_t size) const;
  /// Ranks are dealt to hosts in blocks of one size; the last may have fewer.
  std::uint32_t RanksPerHost(std::uint32_t size) const;
  Instant Limit() const;
};

/// Errors  kInvalidArgument  names the option and what is allowed.
Result<SimOptions> ParseSimOptions(const SimWords& words);

}  // namespace ringlet::cli
