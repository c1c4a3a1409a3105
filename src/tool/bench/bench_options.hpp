// The options of `ringlet bench OPERATION`: from the command line, and back, for its workers.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "testbed/net_hosts.hpp"
#include "tool/bench/measure.hpp"
#include "tool/operation/sweep.hpp"

namespace ringlet::cli {

/// As typed.
struct BenchWords {
  std::string operation = "all_reduce";
  std::uint32_t ranks = 4;
  std::string min_bytes = "8";
  std::string max_bytes = "64M";
  std::uint32_t factor = 2;
  std::string type = "float";
  std::string op = "sum";
  std::uint32_t hosts = 1;  ///< network namespaces that share the ranks
  std::uint32_t nics = 1;   ///< of each
  std::string rate = "1Gb/s";
  std::string delay = "100us";
  std::string links;  ///< empty: RINGLET_LINKS decides
  std::uint32_t root = 0;
  bool in_place = false;      ///< that alone
  bool out_of_place = false;  ///< that alone
  std::vector<std::string> peers = {};
  std::uint32_t rounds = 3;
  bool check = false;
  bool json = false;
  std::string output = {};  ///< a file of results; empty: none
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

/// Adds the options that the operation has to `command`; parsing fills `words`, which outlives it.
void AddBenchOptions(CLI::App& command, BenchWords& words);

/// Those that --tune has.
std::vector<CLI::Option*> AddTuneOptions(CLI::App& command, BenchWords& words);

/// The arguments, from "bench" on, that make the tool a worker of the bench that `words` asked for.
std::vector<std::string> WorkerArguments(const BenchWords& words);

struct BenchOptions {
  std::uint32_t ranks = 0;
  SweepRange range;
  MeasureOptions measure;
  std::vector<std::string> peers;  ///< measured beside, in turn
  std::uint32_t rounds = 1;        ///< of turns
  testbed::NetHostsOptions net = {.hosts = 1};
  bool json = false;
  bool threads = false;
  std::uint32_t busy = 0;  ///< programs that compute beside the ranks
};

/// \param links  what RINGLET_LINKS says, with --links applied; inproc makes the ranks threads
/// Errors  kInvalidArgument  names the option and what is allowed.
Result<BenchOptions> ParseBenchOptions(const BenchWords& words, LinkChoice links);

}  // namespace ringlet::cli
