#include "tool/peers/init_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tool/peers/peer_build.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

// All ranks are on this machine. With more, even the most processes have too few descriptors.
constexpr std::uint32_t kInitRanksMax = 16'384;
constexpr std::uint32_t kProcessesMax = 4096;
constexpr std::uint32_t kIterationsMax = 10'000;
// A process's descriptors besides connections of ranks: streams, libraries, epoll, the team's link.
constexpr std::uint64_t kSpareDescriptors = 128;
// Descriptors of a rank: its listener, its connection to the root, and on average one to its parent
// and one to a child. Includes a reserve for blocks of ranks that have more children than ranks.
constexpr std::uint64_t kDescriptorsOfRank = 5;

Result<std::uint32_t> ProcessesFor(const InitWords& words, std::uint32_t ranks,
                                   std::uint64_t descriptors) {
  if (words.as == "processes") return ranks;
  if (words.processes > ranks)
    return Error{Code::kInvalidArgument, fmt::format("--processes {} is more than {}",
                                                     words.processes, Counted(ranks, "rank"))};
  if (words.processes != 0) return words.processes;
  for (std::uint32_t processes = 1; processes < std::min(ranks, kProcessesMax); ++processes)
    if (DescriptorsNeeded(ranks, processes) <= descriptors) return processes;
  return std::min(ranks, kProcessesMax);
}

Status CheckOffered(const InitWords& words) {
  if (words.each && words.leaders)
    return Error{Code::kInvalidArgument, "--each and --leaders exclude each other"};
  for (const std::uint32_t ranks : words.ranks)
    if (words.roots > ranks)
      return Error{Code::kInvalidArgument,
                   fmt::format("--roots {} is more than {}", words.roots, Counted(ranks, "rank"))};
  return Ok();
}

}  // namespace

void AddInitOptions(CLI::App& command, InitWords& words) {
  command
      .add_option("-n,--ranks", words.ranks, "Numbers of ranks, all on this machine; one row each")
      ->type_name(kNumbersType)
      ->delimiter(',')
      ->check(CLI::Range(1u, kInitRanksMax))
      ->capture_default_str();
  command.add_option("--mode", words.mode, "Shape of the control network, for RINGLET_BOOTSTRAP")
      ->check(CLI::IsMember({"tree", "ring"}));
  command.add_option("--as", words.as, "Run a rank as this kind")
      ->check(CLI::IsMember({"threads", "processes"}))
      ->capture_default_str();
  command
      .add_option(
          "--processes", words.processes,
          "Number of processes for ranks that are threads; default: as few as can hold them")
      ->check(CLI::Range(1u, kProcessesMax));
  command.add_flag("--each", words.each, "Every rank checks in by itself (the default)");
  command.add_flag("--leaders", words.leaders, "The ranks of a host check in together");
  command.add_option("--roots", words.roots, "Number of roots where ranks check in")
      ->check(CLI::Range(1u, kInitRanksMax))
      ->capture_default_str();
  command.add_option("-i,--iters", words.iterations, "Repetitions, after a warm-up")
      ->check(CLI::Range(1u, kIterationsMax))
      ->capture_default_str();
  command
      .add_option("--vs", words.peers,
                  "Measure these libraries too, in turns with Ringlet: " + PeerNamesText())
      ->delimiter(',')
      ->check(CLI::IsMember(PeerNames()));
  command.add_flag("--json", words.json,
                   "One object per line for each number of ranks: n, mode, as, processes, "
                   "total_ms, phases_ms, repetitions, vs");
  command.add_flag("--worker", words.worker)->group("");  // hidden: only the bench uses it
}

Result<BootstrapJob> ParseInitJob(const InitWords& words, std::uint32_t ranks, bool tree,
                                  std::uint64_t descriptors) {
  RINGLET_TRY(CheckOffered(words));
  BootstrapJob job;
  job.iterations = words.iterations;
  job.peers = words.peers;
  job.head = {.ranks = ranks,
              .tree = tree,
              .threads = words.as == "threads",
              .processes = 1,
              .together = words.leaders,
              .roots = words.roots};
  RINGLET_TRY_ASSIGN(job.head.processes, ProcessesFor(words, ranks, descriptors));
  const std::uint64_t needed = DescriptorsNeeded(ranks, job.head.processes);
  if (needed <= descriptors) return job;
  return Error{
      Code::kSystem,
      fmt::format("{} in {} need {} descriptors per process, but only {} are allowed; raise the "
                  "hard limit (ulimit -Hn) or use more --processes",
                  Counted(ranks, "rank"), Counted(job.head.processes, "process", "processes"),
                  needed, descriptors)};
}

std::vector<std::string> InitWorkerArguments(const BootstrapJob& job) {
  std::vector<std::string> arguments{"bench",   "init",
                                     "-n",      std::to_string(job.head.ranks),
                                     "--mode",  job.head.tree ? "tree" : "ring",
                                     "--as",    job.head.threads ? "threads" : "processes",
                                     "-i",      std::to_string(job.iterations),
                                     "--worker"};
  arguments.insert(arguments.end(), {"--roots", std::to_string(job.head.roots)});
  arguments.push_back(job.head.together ? "--leaders" : "--each");
  if (job.head.threads)
    arguments.insert(arguments.end(), {"--processes", std::to_string(job.head.processes)});
  for (const std::string& peer : job.peers) arguments.insert(arguments.end(), {"--vs", peer});
  return arguments;
}

RankBlock BlockOf(std::uint32_t index, const InitHead& head) {
  const std::uint32_t size = head.ranks / head.processes, rest = head.ranks % head.processes;
  return {.first = index * size + std::min(index, rest), .count = size + (index < rest ? 1 : 0)};
}

std::uint64_t DescriptorsNeeded(std::uint32_t ranks, std::uint32_t processes) {
  const std::uint64_t most = (ranks + processes - 1) / processes;
  return ranks + most * kDescriptorsOfRank + kSpareDescriptors;  // process 0 runs the root
}

EnvMap InitEnvironment(EnvMap environment, const InitWords& words) {
  const auto is_set = [&](const std::string& name) {
    for (const char* const prefix : {"RINGLET_", "NCCL_"})
      if (const auto it = environment.find(prefix + name);
          it != environment.end() && !it->second.empty())
        return true;
    return false;
  };
  if (!is_set("SOCKET_IFNAME")) {
    environment["RINGLET_SOCKET_IFNAME"] = "=lo";
    if (!is_set("SOCKET_FAMILY")) environment["RINGLET_SOCKET_FAMILY"] = "AF_INET";
  }
  // A fixed address would be shared by all repetitions and still be in use by the previous one.
  environment.erase("RINGLET_COMM_ID");
  environment.erase("NCCL_COMM_ID");
  if (!words.mode.empty()) environment["RINGLET_BOOTSTRAP"] = words.mode;
  environment["RINGLET_NODE_LEADER"] = words.leaders ? "1" : "0";
  return environment;
}

}  // namespace ringlet::cli
