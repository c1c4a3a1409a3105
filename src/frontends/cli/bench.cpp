#include "frontends/cli/bench.hpp"

#include <fmt/format.h>

#include <mutex>
#include <thread>

#include "frontends/cli/bench_init.hpp"
#include "frontends/cli/bench_options.hpp"
#include "frontends/cli/crew.hpp"
#include "frontends/cli/presenter.hpp"
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
  return Presenter({.report = {.ranks = options.ranks,
                               .links = {},
                               .type = options.measure.type,
                               .op = options.measure.op,
                               .rows = {}},
                    .head = {.ranks = options.ranks,
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

int BenchProcesses(const Job& job) {
  const auto signals = TakeSignals();  // before there are threads
  if (!signals.ok()) return Fail(kBench, signals.error());
  const auto process = comm::Process::Start(job.environment);
  if (!process.ok()) return Fail(kBench, process.error());
  const auto id = comm::CreateUniqueId(*process);
  if (!id.ok()) return Fail(kBench, id.error());
  Presenter presenter = PresenterFor(job.options);
  CrewOptions crew;
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank)
    crew.commands.push_back(WorkerCommand(job, *id, rank));
  crew.on_line = [&](Rank rank, Stream stream, std::string_view line) {
    if (rank == Rank{0} && stream == Stream::kOutput) {
      const auto message = ParseLine(line);
      if (message.ok() && *message) return presenter.OnMessage(**message);
    }
    // Logs and complaints. Standard output is for the result alone.
    fmt::print(stderr, "[{}] {}\n", Index(rank), line);
  };
  crew.on_failure = [&](const RankEnd& end) {
    Tell(kBench, fmt::format("rank {} {}; ending the others", Index(end.rank), ToString(end.how)));
  };
  crew.on_second = [&](Instant now) { presenter.OnTick(now); };
  const auto outcome = RunCrew(**signals, crew);
  if (!outcome.ok()) return Fail(kBench, outcome.error());
  if (outcome->user_signal)
    Tell(kBench, fmt::format("ended by {}", os::SignalName(*outcome->user_signal)));
  if (outcome->ExitStatus() != 0) return outcome->ExitStatus();
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
  return job->options.threads ? BenchThreads(*job) : BenchProcesses(*job);
}

}  // namespace

void AddBench(CLI::App& tool, Action& chosen) {
  CLI::App* bench = tool.add_subcommand("bench", "Measure and check communicators on this machine");
  bench->require_subcommand(1);
  CLI::App* all_reduce =
      bench->add_subcommand("all_reduce", "The sum, maximum, ... over all ranks");
  // Shared by the parser, which fills the words, and the action, which reads them later.
  const auto words = std::make_shared<BenchWords>();
  AddBenchOptions(*all_reduce, *words);
  all_reduce->callback([words, &chosen] { chosen = [words] { return Run(*words); }; });
  AddBenchInit(*bench, chosen);
}

}  // namespace ringlet::cli
