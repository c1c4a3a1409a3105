// Runs the ranks of `ringlet bench` as processes. Each process is this tool again, as a worker.
#pragma once
#include <functional>
#include <memory>

#include "testbed/net_hosts.hpp"
#include "tool/bench/bench_options.hpp"
#include "tool/run/launcher.hpp"

namespace ringlet::cli {

struct BenchJob {
  BenchWords words;
  BenchOptions options;
  EnvMap environment;  ///< includes RINGLET_LINKS from --links
  /// Namespaces of the ranks, shared by the rounds of a run. Null: ranks run on this machine.
  std::shared_ptr<const testbed::NetHosts> hosts = nullptr;
};

/// Creates the hosts of the job. \pre TakeSignals was called, because the hosts start a thread.
/// Errors as testbed::NetHosts::Make
Status MakeHosts(BenchJob& job);
/// Returns the host of `rank`. The ranks are spread evenly over the hosts, in order.
std::uint32_t HostOf(const BenchOptions& options, std::uint32_t rank);

/// Prepares a job with this environment. Errors as os::ReadSettings and ParseBenchOptions.
Result<BenchJob> PrepareBench(const BenchWords& words);

/// Result of a run. If the run failed, the user has already received a message.
struct Ended {
  int status = 0;  ///< exit status as a shell reports it
  bool by_user = false;
};

/// Runs the commands until all exit. \param what  the name of a process in messages: "rank"
Result<Ended> LaunchBenchRanks(os::SignalQueue& signals, LauncherOptions launcher,
                               std::string_view what);

/// Runs all ranks once, each as a process. Calls `on_message` with each message of rank 0.
Result<Ended> RunRanks(os::SignalQueue& signals, const BenchJob& job,
                       const std::shared_ptr<comm::Process>& process, const OnMessage& on_message,
                       std::function<void(Instant)> on_second);

/// Runs this process as one rank. Returns the exit status.
int RunBenchRank(const BenchJob& job);

}  // namespace ringlet::cli
