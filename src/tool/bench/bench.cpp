#include "tool/bench/bench.hpp"

#include <fmt/format.h>

#include <mutex>
#include <thread>

#include "os/clock.hpp"
#include "os/process/env.hpp"
#include "os/process/thread.hpp"
#include "rendezvous/invitation.hpp"
#include "tool/bench/bench_busy.hpp"
#include "tool/bench/bench_enter.hpp"
#include "tool/bench/bench_init.hpp"
#include "tool/bench/bench_options.hpp"
#include "tool/bench/bench_plot.hpp"
#include "tool/bench/bench_reform.hpp"
#include "tool/bench/bench_run.hpp"
#include "tool/bench/bench_tune.hpp"
#include "tool/bench/peer_program.hpp"
#include "tool/bench/turns.hpp"
#include "tool/operation/operation_alias.hpp"
#include "tool/peers/init_peers.hpp"
#include "tool/results/machine.hpp"
#include "tool/results/report_printer.hpp"
#include "tool/results/result_writer.hpp"
#include "tool/run/launcher.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kBench = "bench";

ReportPrinter PresenterFor(const BenchOptions& options) {
  return ReportPrinter({.report = {.kind = options.measure.kind,
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
                        .in_place = options.measure.placement == Placement::kInPlace,
                        .start = os::Now()});
}

ResultHead HeadOf(const BenchJob& job, const BenchReport& report) {
  ResultHead head{.where = MachineText(ReadMachine()),
                  .when = Today(),
                  .command = OwnCommandLine(),
                  .layout = {},
                  .beside = {}};
  if (job.options.net.hosts > 1)
    head.layout = fmt::format("{} of {}, {}, {}", Counted(job.options.net.hosts, "host"),
                              Counted(job.options.ranks, "rank"), job.words.rate, job.words.delay);
  if (job.options.threads) head.layout = Counted(job.options.ranks, "thread");
  for (const std::string& peer : report.peers) {
    const auto version = report.versions.find(peer);
    head.beside.push_back(version == report.versions.end() ? peer : version->second);
  }
  return head;
}

int Conclude(ReportPrinter& presenter, const BenchJob& job) {
  const BenchReport& report = presenter.report();
  const Status verdict = Verdict(report, job.options.measure.counts.size());
  if (presenter.complete()) presenter.Finish();
  if (!verdict.ok() || job.words.output.empty()) return ExitStatusOf(kBench, verdict);
  return ExitStatusOf(kBench, AddResult(job.words.output, HeadOf(job, report), report));
}

// ---- Ranks as threads of this process -------------------------------------------------------

int BenchThreads(const BenchJob& job) {
  const auto process = comm::Process::StartIn(job.environment);
  if (!process.ok()) return Fail(kBench, process.error());
  const auto id = comm::CreateUniqueId(*process);
  if (!id.ok()) return Fail(kBench, id.error());
  ReportPrinter presenter = PresenterFor(job.options);
  std::mutex mutex;
  std::optional<Error> first;
  std::stop_source stop;  // stops the other threads when one fails early
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
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank) {
    auto started =
        os::StartThread("for a rank", [&run, rank](const std::stop_token&) { run(rank); });
    if (started.ok()) {
      threads.push_back(*std::move(started));
      continue;
    }
    const std::lock_guard lock(mutex);
    if (!first) first = started.error();
    stop.request_stop();
    break;
  }
  threads.clear();
  return first ? Fail(kBench, *first) : Conclude(presenter, job);
}

// ---- Ranks as processes ---------------------------------------------------------------------

int BenchProcesses(BenchJob job) {
  const auto signals = TakeSignals();  // before any thread starts
  if (!signals.ok()) return Fail(kBench, signals.error());
  if (const Status made = MakeHosts(job); !made.ok()) return Fail(kBench, made.error());
  const auto process = comm::Process::StartIn(job.environment);
  if (!process.ok()) return Fail(kBench, process.error());
  ReportPrinter presenter = PresenterFor(job.options);
  const auto ended = RunRanks(
      **signals, job, *process, [&](const WorkerMessage& message) { presenter.OnMessage(message); },
      [&](Instant now) { presenter.OnTick(now); });
  if (!ended.ok()) return Fail(kBench, ended.error());
  if (ended->status != 0) return ended->status;
  return Conclude(presenter, job);
}

// ---- Ringlet and its peers in turn, so that other load on the machine affects all ------------

/// Version and times of a peer in one turn.
struct PeerTurn {
  std::map<std::size_t, Measurement> measured;  ///< by count
  std::string version;                          ///< empty: the peer did not print one
};

/// Runs one turn of a peer and collects its lines. Reports a failure to the user.
Result<Ended> RunPeerTurn(os::SignalQueue& signals, const BenchJob& job, const std::string& peer,
                          PeerTurn& turn) {
  LauncherOptions launcher;
  launcher.commands = PeerBenchCommands(peer, job, ToolFolder());
  launcher.on_line = [&](Rank, Stream stream, std::string_view line) {
    if (stream == Stream::kOutput) {
      if (std::string version = ParsePeerVersion(line); !version.empty()) {
        turn.version = std::move(version);
        return;
      }
      if (const auto result = ParsePeerLine(line)) {
        turn.measured[result->count] = result->measured;
        return;
      }
    }
    fmt::print(stderr, "[{}] {}\n", peer, line);
  };
  return LaunchBenchRanks(signals, std::move(launcher), peer + " as process");
}

/// Runs all rounds. After a signal or a failure, returns how the run ended.
Result<Ended> RunTurns(os::SignalQueue& signals, BenchJob& job,
                       const std::shared_ptr<comm::Process>& process, ReportPrinter& presenter,
                       Turns& turns) {
  std::vector<std::string>& peers = job.options.peers;
  for (std::uint32_t round = 1; round <= job.options.rounds; ++round) {
    PrintNote(kBench, fmt::format("round {} of {}: ringlet", round, job.options.rounds));
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
      PrintNote(kBench, fmt::format("round {} of {}: {}", round, job.options.rounds, peer));
      PeerTurn turn;
      RINGLET_TRY_ASSIGN(const Ended other, RunPeerTurn(signals, job, peer, turn));
      if (other.by_user) return other;
      turns.Add(peer, turn.measured);
      if (!turn.version.empty()) presenter.OnVersion(peer, std::move(turn.version));
      if (other.status != 0) std::erase(peers, peer);  // would fail again in the next round
    }
  }
  return Ended{};
}

int BenchBeside(BenchJob job) {
  std::erase_if(job.options.peers, [&](const std::string& peer) {
    const Status there = CheckPeer(peer, ToolFolder(), job.options.net.hosts);
    if (!there.ok()) PrintNote(kBench, there.error().message);
    return !there.ok();
  });
  const auto signals = TakeSignals();  // before any thread starts
  if (!signals.ok()) return Fail(kBench, signals.error());
  if (const Status made = MakeHosts(job); !made.ok()) return Fail(kBench, made.error());
  const auto process = comm::Process::StartIn(job.environment);
  if (!process.ok()) return Fail(kBench, process.error());
  ReportPrinter presenter = PresenterFor(job.options);
  Turns turns;
  const auto ended = RunTurns(**signals, job, *process, presenter, turns);
  if (!ended.ok()) return Fail(kBench, ended.error());
  if (ended->status != 0) return ended->status;
  for (const Row& row : turns.Rows()) presenter.OnMessage(row);
  return Conclude(presenter, job);
}

int Run(const BenchWords& words) {
  const auto job = PrepareBench(words);
  if (!job.ok()) return Fail(kBench, job.error());
  if (words.worker) return RunBenchRank(*job);
  const auto busy = StartBusyPrograms(job->options.busy);
  if (!busy.ok()) return Fail(kBench, busy.error());
  if (!job->options.peers.empty()) return BenchBeside(*job);
  return job->options.threads ? BenchThreads(*job) : BenchProcesses(*job);
}

}  // namespace

void AddBench(CLI::App& tool, Action& chosen) {
  CLI::App* bench = tool.add_subcommand("bench", "Measure and check communicators on this machine");
  bench->require_subcommand(0, 1);
  for (const BenchOperation& operation : BenchOperations()) {
    CLI::App* command =
        bench->add_subcommand(std::string(operation.name), std::string(operation.purpose));
    for (const OperationAlias& other : kOperationAliases)
      if (other.name == operation.name) command->alias(std::string(other.alias));
    // The parser fills the words, and the action reads them later.
    const auto words = std::make_shared<BenchWords>();
    words->operation = operation.name;
    AddBenchOptions(*command, *words);
    command->callback([words, &chosen] { chosen = [words] { return Run(*words); }; });
  }
  AddBenchInit(*bench, chosen);
  AddBenchReform(*bench, chosen);
  AddBenchPlot(*bench, chosen);
  AddBenchTune(*bench, chosen);
  AddBenchBusy(*bench, chosen);
  AddBenchEnter(*bench, chosen);
  AddBenchReach(*bench, chosen);
}

}  // namespace ringlet::cli
