#include "tool/bench/bench_run.hpp"

#include <fmt/format.h>

#include "base/value/digest.hpp"
#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"
#include "os/process/limits.hpp"
#include "os/process/random.hpp"
#include "rendezvous/invitation.hpp"
#include "tool/bench/bench_enter.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kCommand = "bench";

os::Command WorkerCommand(const BenchJob& job, const UniqueId& id, std::uint32_t rank) {
  os::Command command{{"/proc/self/exe"}, job.environment};
  for (std::string& argument : WorkerArguments(job.words))
    command.arguments.push_back(std::move(argument));
  command.environment["RINGLET_UNIQUE_ID"] = rendezvous::ToText(id);
  command.environment["RINGLET_RANK"] = command.environment["RINGLET_LOCAL_RANK"] =
      std::to_string(rank);
  command.environment["RINGLET_WORLD_SIZE"] = std::to_string(job.options.ranks);
  if (job.hosts) {
    const std::uint32_t host = HostOf(job.options, rank);
    command.environment["RINGLET_HOSTID"] = fmt::format("host-{}", host);
    command.arguments = CommandInSpace(job.hosts->SpacePath(host), std::move(command.arguments));
  }
  return command;
}

}  // namespace

Result<BenchJob> PrepareBench(const BenchWords& words) {
  EnvMap environment = WithLogOnErrors(os::ReadEnvironment());
  if (!words.links.empty()) environment["RINGLET_LINKS"] = words.links;
  // Ranks cannot reach the launcher, which is in no namespace.
  if (words.hosts > 1 && !words.worker)
    environment["RINGLET_COMM_ID"] = testbed::NetHosts::AddressOf(0) + ":29500";
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(environment));
  RINGLET_TRY_ASSIGN(BenchOptions options, ParseBenchOptions(words, settings.links));
  return BenchJob{words, std::move(options), std::move(environment)};
}

Status MakeHosts(BenchJob& job) {
  if (job.options.net.hosts < 2) return Ok();
  RINGLET_TRY_ASSIGN(const Secret random, os::SecureRandom());
  job.environment.try_emplace(
      "RINGLET_SECRET", fmt::format("{:016x}{:016x}", Reader(random).U64(), DigestOf(random)));
  // All hosts share the same cores, even if each host seems to have one core per rank.
  if (job.options.ranks > os::UsableCpus().size())
    job.environment.try_emplace("RINGLET_WAIT", "yield");
  RINGLET_TRY_ASSIGN(job.hosts, testbed::NetHosts::Make(job.options.net));
  return Ok();
}

std::uint32_t HostOf(const BenchOptions& options, std::uint32_t rank) {
  return static_cast<std::uint32_t>(std::uint64_t{rank} * options.net.hosts / options.ranks);
}

Result<Ended> LaunchBenchRanks(os::SignalQueue& signals, LauncherOptions launcher,
                               std::string_view what) {
  launcher.on_failure = [&](const RankEnd& end) {
    PrintNote(kCommand,
              fmt::format("{} {} {}; ending the others", what, Index(end.rank), ToString(end.how)));
  };
  RINGLET_TRY_ASSIGN(const LauncherOutcome outcome, LaunchRanks(signals, launcher));
  if (outcome.user_signal)
    PrintNote(kCommand, fmt::format("ended by {}", os::SignalName(*outcome.user_signal)));
  return Ended{outcome.ExitStatus(), outcome.user_signal.has_value()};
}

Result<Ended> RunRanks(os::SignalQueue& signals, const BenchJob& job,
                       const std::shared_ptr<comm::Process>& process, const OnMessage& on_message,
                       std::function<void(Instant)> on_second) {
  RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
  LauncherOptions launcher;
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank)
    launcher.commands.push_back(WorkerCommand(job, id, rank));
  launcher.on_line = [&](Rank rank, Stream stream, std::string_view line) {
    if (rank == Rank{0} && stream == Stream::kOutput) {
      const auto message = ParseLine(line);
      if (message.ok() && *message) return on_message(**message);
    }
    // Logs and error messages. Standard output carries the result alone.
    fmt::print(stderr, "[{}] {}\n", Index(rank), line);
  };
  launcher.on_second = std::move(on_second);
  return LaunchBenchRanks(signals, std::move(launcher), "rank");
}

int RunBenchRank(const BenchJob& job) {
  const auto process = comm::Process::StartIn(job.environment);
  if (!process.ok()) return Fail(kCommand, process.error());
  const Settings& settings = (*process)->settings();
  const auto id = rendezvous::FromText(settings.unique_id.text);
  if (!id.ok()) return Fail(kCommand, id.error());
  const comm::Config config{.id = *id,
                            .rank = settings.rank.value_or(0),
                            .size = job.options.ranks,
                            .device = settings.local_rank.value_or(0),
                            .init_timeout = {},
                            .timeout = {}};
  const auto on_message = [](const WorkerMessage& message) {
    fmt::print("{}\n", ToLine(message));
    std::fflush(stdout);
  };
  const Status status = MeasureRank(*process, config, job.options.measure, on_message, {});
  return ExitStatusOf(kCommand, status);
}

}  // namespace ringlet::cli
