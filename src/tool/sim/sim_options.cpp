#include "tool/sim/sim_options.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"
#include "bootstrap/root.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/quantity.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

constexpr std::uint32_t kSimRanksMax = 1u << 22;  // 4 times the largest tried; memory-bound
constexpr std::size_t kSizesMax = 64;
constexpr std::uint32_t kRanksPerHostMax = 60'000;  // each rank has its own port

Result<std::vector<std::uint32_t>> ParseSizes(std::string_view text) {
  std::vector<std::uint32_t> sizes;
  for (const std::string_view part : Split(text, ',')) {
    const auto size = ParseDecimal(Trim(part));
    if (!size || *size == 0 || *size > kSimRanksMax || sizes.size() == kSizesMax)
      return Error{Code::kInvalidArgument,
                   fmt::format("-n {}: write up to {} numbers from 1 to {}, with commas between "
                               "them",
                               Quoted(text), kSizesMax, kSimRanksMax)};
    sizes.push_back(static_cast<std::uint32_t>(*size));
  }
  return sizes;
}

Status ParseModel(const SimWords& words, SimOptions& options) {
  RINGLET_TRY_ASSIGN(options.latency, ParseDuration(words.latency));
  RINGLET_TRY_ASSIGN(options.jitter, ParseDuration(words.jitter));
  RINGLET_TRY_ASSIGN(options.local_latency, ParseDuration(words.local_latency));
  RINGLET_TRY_ASSIGN(options.mb_per_s, ParseBandwidth(words.bandwidth));
  RINGLET_TRY_ASSIGN(options.cpu_per_event, ParseDuration(words.cpu));
  RINGLET_TRY_ASSIGN(options.cpu_per_kib, ParseDuration(words.cpu_per_kib));
  RINGLET_TRY_ASSIGN(options.spread, ParseDuration(words.spread));
  RINGLET_TRY_ASSIGN(options.timeout, ParseDuration(words.timeout));
  RINGLET_TRY_ASSIGN(options.silence_max, ParseDuration(words.heartbeat));
  if (!words.until.empty()) {
    RINGLET_TRY_ASSIGN(options.until, ParseDuration(words.until));
  }
  if (options.timeout < std::chrono::milliseconds(1))
    return Error{Code::kInvalidArgument,
                 fmt::format("--timeout {}: at least 1ms", Quoted(words.timeout))};
  return Ok();
}

Status CheckExtents(const SimOptions& options) {
  for (const std::uint32_t size : options.sizes) {
    if (options.hosts > size)
      return Error{Code::kInvalidArgument,
                   fmt::format("--hosts {} is more than {}", options.hosts, Counted(size, "rank"))};
    if (options.RanksPerHost(size) > kRanksPerHostMax)
      return Error{Code::kInvalidArgument,
                   fmt::format("--hosts {}: {} ranks are more than {} on each", options.hosts, size,
                               kRanksPerHostMax)};
    RINGLET_TRY(CheckFaults(
        options.faults, {.ranks = size, .hosts = options.HostsOf(size), .roots = options.roots}));
  }
  return Ok();
}

}  // namespace

void AddSimModel(CLI::App& command, SimWords& words) {
  const auto option = [&](const char* name, auto& value, const std::string& text) {
    return command.add_option(name, value, text)->capture_default_str();
  };
  option("-n,--ranks", words.ranks, "Numbers of ranks, separated by commas; one table row for each")
      ->type_name(kNumbersType);
  option("--ranks-per-host", words.ranks_per_host, "Ranks on each host")
      ->check(CLI::Range(1u, kRanksPerHostMax));
  command
      .add_option("--hosts", words.hosts,
                  "Number of hosts, instead of --ranks-per-host; each host has equally many ranks")
      ->check(CLI::Range(1u, kSimRanksMax));
  option("--latency", words.latency,
         "Latency between hosts, one way; opening a connection takes two")
      ->type_name(kTimeType);
  option("--jitter", words.jitter, "Maximum extra latency, random for each message")
      ->type_name(kTimeType);
  option("--local-latency", words.local_latency, "Latency inside a host, one way")
      ->type_name(kTimeType);
  option("--bandwidth", words.bandwidth,
         "Bandwidth of the network card of each host, per direction; 0: unlimited")
      ->type_name(kRateType);
  option("--cpu", words.cpu,
         "Processor time per event at a rank or root, which handles one event at a time")
      ->type_name(kTimeType);
  option("--cpu-per-kib", words.cpu_per_kib, "Additional processor time per received KiB")
      ->type_name(kTimeType);
  option("--arity", words.arity, "Children of each rank in the tree")->check(CLI::Range(1u, 256u));
  option("--heartbeat", words.heartbeat,
         "Silence after which a rank counts as lost; 0 disables detection")
      ->type_name(kTimeType);
  option("--seed", words.seed, "Random seed; equal seeds give equal runs");
}

void AddSimOptions(CLI::App& command, SimWords& words) {
  AddSimModel(command, words);
  const auto option = [&](const char* name, auto& value, const std::string& text) {
    return command.add_option(name, value, text)->capture_default_str();
  };
  option("--spread", words.spread, "Each rank starts at a random time within this interval")
      ->type_name(kTimeType);
  option("--mode", words.mode, "Shape of the control network: tree or ring")
      ->check(CLI::IsMember({"tree", "ring"}));
  option("--roots", words.roots, "Number of roots")->check(CLI::Range(1u, 4096u));
  command.add_flag("--each", words.each,
                   "Every rank checks in by itself, not the first rank of a host for all of them");
  command.add_option("--faults", words.faults,
                     "Faults, separated by commas: " + std::string(kFaultsHelp));
  option("--timeout", words.timeout, "Timeout of each rank for joining")->type_name(kTimeType);
  command
      .add_option(
          "--until", words.until,
          "End of the simulated time; default with faults: twice the timeout after the last fault")
      ->type_name(kTimeType);
  command.add_flag(
      "--json", words.json,
      "One object: mode, arity, roots, seed, faults, rows (n, hosts, standing, failed, "
      "steps, total_ms, phases_ms, bytes, failures, ...)");
  command
      .add_option("--trace", words.trace,
                  "Write the phases of some ranks to this file, for chrome://tracing or Perfetto")
      ->type_name(kFileType);
}

Result<SimOptions> ParseSimOptions(const SimWords& words) {
  SimOptions options;
  RINGLET_TRY_ASSIGN(options.sizes, ParseSizes(words.ranks));
  RINGLET_TRY(ParseModel(words, options));
  RINGLET_TRY_ASSIGN(options.faults, ParseFaults(words.faults));
  options.ranks_per_host = words.ranks_per_host;
  options.hosts = words.hosts;
  options.shape = words.mode == "ring" ? bootstrap::Shape::kRing : bootstrap::Shape::kTree;
  options.arity = static_cast<std::uint16_t>(words.arity);
  options.roots = words.roots;
  options.each = words.each;
  options.faults_text = words.faults;
  options.seed = words.seed;
  options.json = words.json;
  options.trace = words.trace;
  RINGLET_TRY(CheckExtents(options));
  return options;
}

std::uint32_t SimOptions::RanksPerHost(std::uint32_t size) const {
  return hosts == 0 ? ranks_per_host : (size + hosts - 1) / hosts;
}

std::uint32_t SimOptions::HostsOf(std::uint32_t size) const {
  const std::uint32_t ranks = RanksPerHost(size);
  return (size + ranks - 1) / ranks;
}

Instant SimOptions::Limit() const {
  return until != Instant(0) ? until : faults.Last() + spread + 2 * timeout;
}

}  // namespace ringlet::cli
