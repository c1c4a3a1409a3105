#include "tool/bench/bench_init.hpp"

#include <fmt/format.h>

#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"
#include "os/process/limits.hpp"
#include "rendezvous/invitation.hpp"
#include "tool/peers/init_measure.hpp"
#include "tool/peers/init_options.hpp"
#include "tool/peers/init_peers.hpp"
#include "tool/run/launcher.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/terminal.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kBenchInit = "bench init";
constexpr std::chrono::minutes kPeerTimeout(2);  // Gloo takes 50 s for 512 ranks on two cores

using Report = std::function<void(const InitMessage&)>;

// Runs the repetitions in each process of a job. Process 0 reports the times and runs the peers.
Status RunRepetitions(const std::shared_ptr<comm::Process>& process, Team& team,
                      const BootstrapJob& job, const EnvMap& environment, const Report& tell) {
  std::vector<std::string> peers = job.peers;
  const std::uint64_t descriptors = os::RaiseDescriptorLimit();
  for (std::uint32_t i = 0; i <= job.iterations; ++i) {
    RINGLET_TRY_ASSIGN(const Repetition one, Repeat(process, team, job.head));
    const bool warm = i > 0;
    if (!warm || team.index() != 0) continue;
    tell(one);
    std::erase_if(peers, [&](const std::string& peer) {
      const PeerRun run = RunPeer(
          peer, PeerCommand(peer, job.head, ToolFolder(), descriptors, environment), kPeerTimeout);
      tell(run);
      return !run.total_ms;  // would fail again in the next repetition
    });
  }
  return Ok();
}

Status RunRepetitionsAlone(const BootstrapJob& job, const EnvMap& environment, const Report& tell) {
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::StartIn(environment));
  Team alone;
  return RunRepetitions(process, alone, job, environment, tell);
}

os::Command WorkerCommand(const BootstrapJob& job, const EnvMap& environment, const UniqueId& id,
                          std::uint32_t index) {
  os::Command command{{"/proc/self/exe"}, environment};
  for (std::string& argument : InitWorkerArguments(job))
    command.arguments.push_back(std::move(argument));
  command.environment["RINGLET_UNIQUE_ID"] = rendezvous::ToText(id);
  command.environment["RINGLET_RANK"] = std::to_string(index);
  return command;
}

// Starts the tool again, once per process. Returns the exit status.
int ServeRanks(os::SignalQueue& signals, const BootstrapJob& job, const EnvMap& environment,
               const Report& tell) {
  const auto process = comm::Process::StartIn(environment);
  if (!process.ok()) return Fail(kBenchInit, process.error());
  const auto id = comm::CreateUniqueId(*process);
  if (!id.ok()) return Fail(kBenchInit, id.error());
  LauncherOptions launcher;
  for (std::uint32_t index = 0; index < job.head.processes; ++index)
    launcher.commands.push_back(WorkerCommand(job, environment, *id, index));
  launcher.on_line = [&](Rank index, Stream stream, std::string_view line) {
    if (index == Rank{0} && stream == Stream::kOutput) {
      const auto message = ParseInitLine(line);
      if (message.ok() && *message) return tell(**message);
    }
    fmt::print(stderr, "[{}] {}\n", Index(index), line);
  };
  launcher.on_failure = [&](const RankEnd& end) {
    PrintNote(kBenchInit,
              fmt::format("process {} {}; ending the others", Index(end.rank), ToString(end.how)));
  };
  const auto outcome = LaunchRanks(signals, launcher);
  if (!outcome.ok()) return Fail(kBenchInit, outcome.error());
  if (outcome->user_signal)
    PrintNote(kBenchInit, fmt::format("ended by {}", os::SignalName(*outcome->user_signal)));
  return outcome->ExitStatus();
}

// ---- One of the processes -------------------------------------------------------------------

Status Work(const BootstrapJob& job, const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::StartIn(environment));
  const Settings& settings = process->settings();
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(settings.unique_id.text));
  RINGLET_TRY_ASSIGN(Team team,
                     Team::Join(process, id, settings.rank.value_or(0), job.head.processes));
  const auto tell = [](const InitMessage& message) {
    fmt::print("{}\n", ToLine(message));
    std::fflush(stdout);
  };
  RINGLET_TRY(RunRepetitions(process, team, job, environment, tell));
  return team.Barrier();  // keeps each process alive until all have received all messages
}

// ---- The launcher ---------------------------------------------------------------------------

int Launch(os::SignalQueue* signals, const InitWords& words, const BootstrapJob& job,
           const EnvMap& environment) {
  InitReport report{.head = job.head, .repetitions = {}, .peers = {}};
  const auto tell = [&](const InitMessage& message) {
    if (const auto* one = std::get_if<Repetition>(&message)) report.repetitions.push_back(*one);
    if (const auto* run = std::get_if<PeerRun>(&message)) {
      report.peers.push_back(*run);
      if (!run->trouble.empty())
        PrintNote(kBenchInit, fmt::format("{}: {}", run->peer, run->trouble));
    }
  };
  if (job.head.processes == 1 && job.head.threads) {
    const Status status = RunRepetitionsAlone(job, environment, tell);
    if (!status.ok()) return Fail(kBenchInit, status.error());
  } else {
    const int status = ServeRanks(*signals, job, environment, tell);
    if (status != 0) return status;
  }
  if (report.repetitions.size() != job.iterations)
    return Fail(kBenchInit,
                Error{Code::kProtocol,
                      fmt::format("only {} of {} returned a result", report.repetitions.size(),
                                  Counted(job.iterations, "repetition"))});
  if (words.json)
    fmt::print("{}", InitJson(report));
  else
    PrintFitted(InitRowText(report));
  std::fflush(stdout);
  return kExitDone;
}

int Run(const InitWords& words) {
  const EnvMap environment = InitEnvironment(WithLogOnErrors(os::ReadEnvironment()), words);
  const auto settings = os::ReadSettings(environment);
  if (!settings.ok()) return Fail(kBenchInit, settings.error());
  std::vector<BootstrapJob> jobs;
  for (const std::uint32_t ranks : words.ranks) {
    auto job = ParseInitJob(words, ranks, settings->bootstrap == BootstrapShape::kTree,
                            os::RaiseDescriptorLimit());
    if (!job.ok()) return Fail(kBenchInit, job.error());
    jobs.push_back(*std::move(job));
  }
  if (words.worker) return ExitStatusOf(kBenchInit, Work(jobs.front(), environment));
  std::unique_ptr<os::SignalQueue> signals;
  const bool launchers = std::ranges::any_of(
      jobs, [](const BootstrapJob& job) { return job.head.processes > 1 || !job.head.threads; });
  if (launchers) {
    auto taken = TakeSignals();  // before any thread starts
    if (!taken.ok()) return Fail(kBenchInit, taken.error());
    signals = *std::move(taken);
  }
  if (!words.json) PrintFitted(InitHeadText(words.iterations));
  for (const BootstrapJob& job : jobs)
    if (const int status = Launch(signals.get(), words, job, environment); status != 0)
      return status;
  return kExitDone;
}

}  // namespace

void AddBenchInit(CLI::App& bench, Action& chosen) {
  CLI::App* init = bench.add_subcommand("init", "Measure the time to form a communicator");
  // The parser fills the words, and the action reads them later.
  const auto words = std::make_shared<InitWords>();
  AddInitOptions(*init, *words);
  init->callback([words, &chosen] { chosen = [words] { return Run(*words); }; });
}

}  // namespace ringlet::cli
