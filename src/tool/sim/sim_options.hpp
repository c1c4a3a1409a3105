// The options of `ringlet sim init`, and those that `ringlet sim reform` shares.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "bootstrap/protocol.hpp"
#include "tool/sim/sim_faults.hpp"

namespace ringlet::cli {

/// The options as the user typed them.
struct SimWords {
  std::string ranks = "1024";
  std::uint32_t ranks_per_host = 8;
  std::uint32_t hosts = 0;  ///< 0: derived from ranks_per_host
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

/// Adds the options for the job and its network to `command`. Parsing fills `words`, which outlives
/// `command`.
void AddSimModel(CLI::App& command, SimWords& words);
/// Adds these and all others.
void AddSimOptions(CLI::App& command, SimWords& words);

struct SimOptions {
  std::vector<std::uint32_t> sizes;  ///< numbers of ranks, one simulation each
  std::uint32_t ranks_per_host = 8;
  std::uint32_t hosts = 0;  ///< 0: derived from ranks_per_host
  Instant latency{0};       ///< between hosts, one way
  Instant jitter{0};        ///< maximum addition to the latency, drawn for each message
  Instant local_latency{0};
  std::uint64_t mb_per_s = 0;  ///< rate of each host's network card; 0: unlimited
  Instant cpu_per_event{0};
  Instant cpu_per_kib{0};
  Instant spread{0};  ///< ranks start at random within this time
  bootstrap::Shape shape = bootstrap::Shape::kTree;
  std::uint16_t arity = 8;
  std::uint32_t roots = 1;
  bool each = false;  ///< every rank checks in for itself, instead of the first of a host for all
  Instant silence_max{0};
  FaultPlan faults;
  std::string faults_text;  ///< as the user typed it
  std::uint64_t seed = 1;
  Instant timeout{0};
  Instant until{0};  ///< 0: twice the timeout after the last fault
  bool json = false;
  std::string trace;  ///< file name; empty: do not write a trace

  std::uint32_t HostsOf(std::uint32_t size) const;
  /// Returns the ranks per host. Hosts take equal blocks of ranks; the last may have fewer.
  std::uint32_t RanksPerHost(std::uint32_t size) const;
  Instant Limit() const;
};

/// Errors  kInvalidArgument  names the option and the allowed values.
Result<SimOptions> ParseSimOptions(const SimWords& words);

}  // namespace ringlet::cli
