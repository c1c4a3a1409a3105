#include "frontends/cli/bench.hpp"

#include <fmt/format.h>

#include <mutex>
#include <thread>

#include "frontends/cli/bench_init.hpp"
#include "frontends/cli/bench_options.hpp"
#include "frontends/cli/crew.hpp"
#include "frontends/cli/init_peers.hpp"
#include "frontends/cli/peer_program.hpp"
#include "frontends/cli/presenter.hpp"
#include "frontends/cli/turns.hpp"
#include "os/clock.hpp"
#include "os/env.hpp"
#include "rendezvous/invitation.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kBench = "bench";

struct Job {
  BenchWords words;
  BenchOptions options;
  EnvMap environment;  ///< with --links in it
};

Result<Job> Prepare(const BenchWords& words) {
  EnvMap environment = WithLogOnErrors(os::ReadEnvironment());
  if (!words.links.empty()) environment["RINGLET_LINKS"] = words.links;
  RINGLET_TRY_ASSIGN(const Settings settings, ParseSettings(environment));
  RINGLET_TRY_ASSIGN(BenchOptions options, ParseBenchOptions(words, settings.links));
  return Job{words, std::move(options), std::move(environment)};
}

Presenter PresenterFor(const BenchOptions& options) {
  return Presenter({.report = {.kind = options.measure.kind,
                               .ranks = options.ranks,
                               .type = options.measure.type,
                               .op = options.measure.op,
                               .root = Index(options.measure.root),
                               .peers = options.peers},
                    .head = {.kind = options.measure.kind,
                             .ranks = options.ranks,
                             .threads = options.threads,
                             .links = {},
                             .min_bytes = options.range.min_bytes,
                             .max_bytes = options.range.max_bytes,
                             .factor = options.range.factor,
                             .check = options.measure.check},
                    .json = options.json,
                    .sizes = options.measure.counts.size(),
                    .start = os::Now()});
}

int Conclude(Presenter& presenter, const BenchOptions& options) {
  const Status verdict = Verdict(presenter.report(), options.measure.counts.size());
  if (presenter.complete()) presenter.Finish();
  return verdict.ok() ? 0 : Fail(kBench, verdict.error());
}

// ---- Ranks as threads of this process.
// -----------------------------------------------------------

int BenchThreads(const Job& job) {
  const auto process = comm::Process::Start(job.environment);
  if (!process.ok()) return Fail(kBench, process.error());
  const auto id = comm::CreateUniqueId(*process);
  if (!id.ok()) return Fail(kBench, id.error());
  Presenter presenter = PresenterFor(job.options);
  std::mutex mutex;
  std::optional<Error> first;
  std::stop_source stop;  // whoever fails early must not leave the others waiting for him
  const auto run = [&](std::uint32_t rank) {
    const comm::Config config{.id = *id,
                              .rank = rank,
                              .size = job.options.ranks,
                              .device = rank,
                              .init_timeout = {},
                              .timeout = {}};
    const auto on_message = [&](const WorkerMessage& message) {
      presenter.OnMessage(message);
      presenter.OnTick(os::Now());
    };
    const Status status =
        MeasureRank(*process, config, job.options.measure, on_message, stop.get_token());
    if (status.ok()) return;
    const std::lock_guard lock(mutex);
    if (!first) first = status.error();
    stop.request_stop();
  };
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank) threads.emplace_back(run, rank);
  threads.clear();
  return first ? Fail(kBench, *first) : Conclude(presenter, job.options);
}

// ---- Ranks as processes: this tool again, as workers.
// --------------------------------------------

os::Command WorkerCommand(const Job& job, const UniqueId& id, std::uint32_t rank) {
  os::Command command{{"/proc/self/exe"}, job.environment};
  for (std::string& argument : WorkerArguments(job.words))
    command.arguments.push_back(std::move(argument));
  command.environment["RINGLET_UNIQUE_ID"] = rendezvous::ToText(id);
  command.environment["RINGLET_RANK"] = command.environment["RINGLET_LOCAL_RANK"] =
      std::to_string(rank);
  command.environment["RINGLET_WORLD_SIZE"] = std::to_string(job.options.ranks);
  return command;
}

/// Who is measured ends like this: a sentence for the user has been told.
struct Ended {
  int status = 0;
  bool by_user = false;
};

Result<Ended> RunAll(os::SignalQueue& signals, CrewOptions crew, std::string_view what) {
  crew.on_failure = [&](const RankEnd& end) {
    Tell(kBench,
         fmt::format("{} {} {}; ending the others", what, Index(end.rank), ToString(end.how)));
  };
  RINGLET_TRY_ASSIGN(const CrewOutcome outcome, RunCrew(signals, crew));
  if (outcome.user_signal)
    Tell(kBench, fmt::format("ended by {}", os::SignalName(*outcome.user_signal)));
  return Ended{outcome.ExitStatus(), outcome.user_signal.has_value()};
}

/// One run of all ranks, each a process. Gives what rank 0 says to `on_message`.
Result<Ended> RunRanks(os::SignalQueue& signals, const Job& job,
                       const std::shared_ptr<comm::Process>& process, const OnMessage& on_message,
                       std::function<void(Instant)> on_second) {
  RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
  CrewOptions crew;
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank)
    crew.commands.push_back(WorkerCommand(job, id, rank));
  crew.on_line = [&](Rank rank, Stream stream, std::string_view line) {
    if (rank == Rank{0} && stream == Stream::kOutput) {
      const auto message = ParseLine(line);
      if (message.ok() && *message) return on_message(**message);
    }
    // Logs and complaints. Standard output is for the result alone.
    fmt::print(stderr, "[{}] {}\n", Index(rank), line);
  };
  crew.on_second = std::move(on_second);
  return RunAll(signals, std::move(crew), "rank");
}

int BenchProcesses(const Job& job) {
  const auto signals = TakeSignals();  // before there are threads
  if (!signals.ok()) return Fail(kBench, signals.error());
  const auto process = comm::Process::Start(job.environment);
  if (!process.ok()) return Fail(kBench, process.error());
  Presenter presenter = PresenterFor(job.options);
  const auto ended = RunRanks(
      **signals, job, *process, [&](const WorkerMessage& message) { presenter.OnMessage(message); },
      [&](Instant now) { presenter.OnTick(now); });
  if (!ended.ok()) return Fail(kBench, ended.error());
  if (ended->status != 0) return ended->status;
  return Conclude(presenter, job.options);
}

// ---- Others beside it, in turn: whatever else happens on the machine then happens to all.
// ------------------------------------------------------------------------------------------

/// One turn of a peer. A peer that fails is told of and gives nothing.
Result<Ended> RunPeerTurn(os::SignalQueue& signals, const Job& job, const std::string& peer,
                          std::map<std::size_t, Measurement>& measured) {
  CrewOptions crew;
  crew.commands = {PeerBenchCommand(peer, job.options, ToolFolder(), job.environment)};
  crew.on_line = [&](Rank, Stream stream, std::string_view line) {
    if (stream == Stream::kOutput)
      if (const auto result = ParsePeerLine(line)) {
        measured[result->count] = result->measured;
        return;
      }
    fmt::print(stderr, "[{}] {}\n", peer, line);
  };
  return RunAll(signals, std::move(crew), peer + " as process");
}

/// Whether all went on; else `status` is that of the tool.
Result<Ended> RunTurns(os::SignalQueue& signals, Job& job,
                       const std::shared_ptr<comm::Process>& process, Presenter& presenter,
                       Turns& turns) {
  std::vector<std::string>& peers = job.options.peers;
  for (std::uint32_t round = 1; round <= job.options.rounds; ++round) {
    Tell(kBench, fmt::format("round {} of {}: ringlet", round, job.options.rounds));
    std::vector<Row> rows;
    const auto on_message = [&](const WorkerMessage& message) {
      if (const auto* row = std::get_if<Row>(&message)) rows.push_back(*row);
      if (std::holds_alternative<Formed>(message) && round == 1) presenter.OnMessage(message);
    };
    RINGLET_TRY_ASSIGN(const Ended own, RunRanks(signals, job, process, on_message, {}));
    if (own.status != 0) return own;
    RINGLET_TRY(CheckComplete(rows.size(), job.options.measure.counts.size()));
    turns.Add(std::move(rows));
    for (const std::string& peer : std::vector(peers)) {
      Tell(kBench, fmt::format("round {} of {}: {}", round, job.options.rounds, peer));
      std::map<std::size_t, Measurement> measured;
      RINGLET_TRY_ASSIGN(const Ended other, RunPeerTurn(signals, job, peer, measured));
      if (other.by_user) return other;
      turns.Add(peer, measured);
      if (other.status != 0) std::erase(peers, peer);  // it will do no better the next time
    }
  }
  return Ended{};
}

int BenchBeside(Job job) {
  std::erase_if(job.options.peers, [](const std::string& peer) {
    const Status there = CheckPeerProgram(peer, ToolFolder());
    if (!there.ok()) Tell(kBench, there.error().message);
    return !there.ok();
  });
  const auto signals = TakeSignals();  // before there are threads
  if (!signals.ok()) return Fail(kBench, signals.error());
  const auto process = comm::Process::Start(job.environment);
  if (!process.ok()) return Fail(kBench, process.error());
  Presenter presenter = PresenterFor(job.options);
  Turns turns;
  const auto ended = RunTurns(**signals, job, *process, presenter, turns);
  if (!ended.ok()) return Fail(kBench, ended.error());
  if (ended->status != 0) return ended->status;
  for (const Row& row : turns.Rows()) presenter.OnMessage(row);
  return Conclude(presenter, job.options);
}

int Work(const Job& job) {
  const auto process = comm::Process::Start(job.environment);
  if (!process.ok()) return Fail(kBench, process.error());
  const Settings& settings = (*process)->settings();
  const auto id = rendezvous::FromText(settings.unique_id.text);
  if (!id.ok()) return Fail(kBench, id.error());
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
  return status.ok() ? 0 : Fail(kBench, status.error());
}

int Run(const BenchWords& words) {
  const auto job = Prepare(words);
  if (!job.ok()) return Fail(kBench, job.error());
  if (words.worker) return Work(*job);
  if (!job->options.peers.empty()) return BenchBeside(*job);
  return job->options.threads ? BenchThreads(*job) : BenchProcesses(*job);
}

}  // namespace

void AddBench(CLI::App& tool, Action& chosen) {
  CLI::App* bench = tool.add_subcommand("bench", "Measure and check communicators on this machine");
  bench->require_subcommand(1);
  for (const BenchOperation& operation : BenchOperations()) {
    CLI::App* command =
        bench->add_subcommand(std::string(operation.name), std::string(operation.purpose));
    // Shared by the parser, which fills the words, and the action, which reads them later.
    const auto words = std::make_shared<BenchWords>();
    words->operation = operation.name;
    AddBenchOptions(*command, *words);
    command->callback([words, &chosen] { chosen = [words] { return Run(*words); }; });
  }
  AddBenchInit(*bench, chosen);
}

}  // namespace ringlet::cli
