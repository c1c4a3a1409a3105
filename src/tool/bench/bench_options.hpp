// The options of `ringlet bench OPERATION`: parses them and writes them as arguments for workers.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "testbed/net_hosts.hpp"
#include "tool/bench/measure.hpp"
#include "tool/operation/sweep.hpp"

namespace ringlet::cli {

/// The options as the user typed them.
struct BenchWords {
  std::string operation = "all_reduce";
  std::uint32_t ranks = 4;
  std::string min_bytes = "8";
  std::string max_bytes = "64M";
  std::uint32_t factor = 2;
  std::string type = "float";
  std::string op = "sum";
  std::uint32_t hosts = 1;  ///< network namespaces that share the ranks
  std::uint32_t nics = 1;   ///< network interfaces per host
  std::string rate = "1Gb/s";
  std::string delay = "100us";
  std::string links;  ///< empty: RINGLET_LINKS decides
  std::uint32_t root = 0;
  bool in_place = false;      ///< measure only this placement
  bool out_of_place = false;  ///< measure only this placement
  std::vector<std::string> peers = {};
  std::uint32_t rounds = 3;
  bool check = false;
  bool json = false;
  std::string output = {};  ///< path of a file of results; empty: do not write one
  bool threads = false;
  bool unbound = false;
  bool registered = false;
  std::string late = "0";
  bool changing = false;
  std::uint32_t busy = 0;
  std::optional<std::uint32_t> warmup = std::nullopt;
  std::optional<std::uint32_t> iterations = std::nullopt;
  bool worker = false;  ///< this process is one rank and reports to its launcher
};

/// Adds the options of the operation to `command`. Parsing fills `words`, which outlives `command`.
void AddBenchOptions(CLI::App& command, BenchWords& words);

/// Adds the options of --tune and returns them.
std::vector<CLI::Option*> AddTuneOptions(CLI::App& command, BenchWords& words);

/// Returns the arguments, starting with "bench", that start a worker of the bench in `words`.
std::vector<std::string> WorkerArguments(const BenchWords& words);

struct BenchOptions {
  std::uint32_t ranks = 0;
  SweepRange range;
  MeasureOptions measure;
  std::vector<std::string> peers;  ///< peers to measure in turn with Ringlet
  std::uint32_t rounds = 1;        ///< turns of Ringlet and of each peer
  testbed::NetHostsOptions net = {.hosts = 1};
  bool json = false;
  bool threads = false;
  std::uint32_t busy = 0;  ///< programs that compute beside the ranks
};

/// \param links  the value of RINGLET_LINKS, with --links applied; inproc makes the ranks threads
/// Errors  kInvalidArgument  names the option and the allowed values.
Result<BenchOptions> ParseBenchOptions(const BenchWords& words, LinkChoice links);

}  // namespace ringlet::cli
