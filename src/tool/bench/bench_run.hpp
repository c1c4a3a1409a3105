// Ranks of `ringlet bench` as processes: this tool again, as workers.
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
  EnvMap environment;  ///< with --links in it
  /// The hosts of the ranks; null: here. Shared by the rounds of a run.
  std::shared_ptr<const testbed::NetHosts> hosts = nullptr;
};

/// Makes the hosts that the job asks for. After TakeSignals: they have a thread.
/// Errors as testbed::NetHosts::Make
Status MakeHosts(BenchJob& job);
/// On which host a rank runs: they are shared out evenly, in order.
std::uint32_t HostOf(const BenchOptions& options, std::uint32_t rank);

/// With this process's environment. Errors as ParseSettings and ParseBenchOptions.
Result<BenchJob> PrepareBench(const BenchWords& words);

/// How a run ended. If it was not good, the user has been told.
struct Ended {
  int status = 0;  ///< as a shell gives it
  bool by_user = false;
};

/// Runs the commands to their end. \param what  a process is called in sentences: "rank"
Result<Ended> LaunchBenchRanks(os::SignalQueue& signals, LauncherOptions launcher,
                               std::string_view what);

/// One run of all ranks, each a process. Gives what rank 0 says to `on_message`.
Result<Ended> RunRanks(os::SignalQueue& signals, const BenchJob& job,
                       const std::shared_ptr<comm::Process>& process, const OnMessage& on_message,
                       std::function<void(Instant)> on_second);

/// The work of a worker. Gives the exit status.
int WorkAsRank(const BenchJob& job);

}  // namespace ringlet::cli
