#include "tool/bench/bench_tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "comm/backend/host_memory.hpp"
#include "os/fs/conf_files.hpp"
#include "os/fs/write_file.hpp"
#include "tool/bench/bench_run.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"
#include "transport/arena/arena.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kTune = "bench --tune";

using collective::Algorithm;

struct TuneRequest {
  std::string path;
  BenchWords words;  ///< used for every operation
};

/// Returns the largest block that one_shot accepts.
std::size_t OneShotMax(collective::CallKind kind, std::uint32_t ranks) {
  return transport::ArenaShape().slot_bytes / (collective::PieceEach(kind) ? ranks : 1);
}

/// Adds the algorithms of each operation that has a choice on this layout.
void AddAttempts(const collective::Layout& layout, std::vector<AlgorithmTimes>& trials) {
  for (const BenchOperation& operation : BenchOperations()) {
    const auto algorithms = AlgorithmsFor(operation.kind, layout);
    if (algorithms.size() < 2) continue;
    const auto add = [&](Algorithm algorithm, bool registered) {
      trials.push_back({.kind = operation.kind,
                        .algorithm = algorithm,
                        .registered = registered,
                        .us_by_bytes = {}});
    };
    for (const Algorithm algorithm : algorithms) {
      if (algorithm != Algorithm::kZeroCopy) add(algorithm, false);
      if (algorithm == Algorithm::kZeroCopy || algorithm == Algorithm::kSlices)
        add(algorithm, true);
    }
  }
}

Result<BenchJob> JobFor(const TuneRequest& request, const AlgorithmTimes& trial) {
  BenchWords words = request.words;
  words.operation = BenchOperationOf(trial.kind).name;
  words.out_of_place = true;
  words.registered = trial.registered;
  RINGLET_TRY_ASSIGN(BenchJob job, PrepareBench(words));
  job.environment.erase("RINGLET_TUNE_FILE");
  if (!IsOnSharedMemory(trial.algorithm) && !SharesWithinHosts(trial.algorithm))
    job.environment["RINGLET_HOST_MEMORY"] = "0";
  job.environment["RINGLET_HOST_ALGO"] =
      fmt::format("{}:{}", Name(trial.kind), Name(trial.algorithm));
  return job;
}

Result<Ended> Measure(os::SignalQueue& signals, const TuneRequest& request, const BenchJob& first,
                      AlgorithmTimes& trial) {
  RINGLET_TRY_ASSIGN(BenchJob job, JobFor(request, trial));
  job.hosts = first.hosts;
  if (const auto secret = first.environment.find("RINGLET_SECRET");
      secret != first.environment.end())
    job.environment.insert(*secret);
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::StartIn(job.environment));
  const std::size_t element_bytes = SizeOf(job.options.measure.type);
  const std::size_t bytes_max = trial.algorithm == Algorithm::kOneShot
                                    ? OneShotMax(trial.kind, request.words.ranks)
                                    : collective::kAnyBytes;
  std::size_t rows = 0;
  const auto on_message = [&](const WorkerMessage& message) {
    const auto* row = std::get_if<Row>(&message);
    if (row == nullptr) return;
    ++rows;
    const std::size_t bytes = row->count * element_bytes;
    if (bytes <= bytes_max) trial.us_by_bytes.emplace_back(bytes, row->first().time_us);
  };
  RINGLET_TRY_ASSIGN(const Ended ended, RunRanks(signals, job, process, on_message, {}));
  if (ended.status == 0) {
    RINGLET_TRY(CheckComplete(rows, job.options.measure.counts.size()));
  }
  return ended;
}

/// Returns true if the ranks of a job use the memory of their host.
Result<bool> SharesMemory(const BenchJob& job, std::uint32_t hosts) {
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(job.environment));
  return comm::AllowsHostMemory(settings, (job.options.ranks + hosts - 1) / hosts);
}

/// Returns attempts over links, and on one host also through its memory. On several hosts, attempts
/// may use the memory within each host.
std::vector<AlgorithmTimes> AttemptsOf(std::uint32_t ranks, std::uint32_t hosts,
                                       bool shares_memory) {
  const collective::Groups groups = collective::EvenGroups(ranks, hosts);
  collective::Layout layout{.order = collective::InOrder(groups), .groups = groups};
  std::vector<AlgorithmTimes> trials;
  if (shares_memory && hosts == 1) {
    collective::Layout on_host = layout;
    on_host.post_bytes = transport::ArenaShape().slot_bytes;
    AddAttempts(on_host, trials);
  }
  if (shares_memory && hosts > 1) layout.sharing = groups;
  AddAttempts(layout, trials);
  return trials;
}

Result<int> Tune(const TuneRequest& request) {
  RINGLET_TRY_ASSIGN(const auto signals, TakeSignals());  // before any thread starts
  const std::uint32_t ranks = request.words.ranks, hosts = request.words.hosts;
  const AlgorithmTimes any_way{collective::CallKind::kAllReduce, Algorithm::kSlices, false, {}};
  RINGLET_TRY_ASSIGN(BenchJob first, JobFor(request, any_way));
  RINGLET_TRY_ASSIGN(const bool shares_memory, SharesMemory(first, hosts));
  std::vector<AlgorithmTimes> trials = AttemptsOf(ranks, hosts, shares_memory);
  if (trials.empty())
    return Error{Code::kInvalidArgument, "a single rank cannot choose between algorithms"};
  RINGLET_TRY(MakeHosts(first));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    PrintNote(kTune, fmt::format("{} of {}: {} by {}{}", i + 1, trials.size(), Name(trials[i].kind),
                                 Name(trials[i].algorithm),
                                 trials[i].registered ? ", registered memory" : ""));
    RINGLET_TRY_ASSIGN(const Ended ended, Measure(*signals, request, first, trials[i]));
    if (ended.status != 0) return ended.status;
  }
  const collective::TuningTable table(FastestOf(trials, ranks, hosts),
                                      LinksOf(trials, ranks, hosts));
  const std::string comment = fmt::format(
      "ringlet bench --tune: {}, {}, links {}", Counted(ranks, "rank"), Counted(hosts, "host"),
      request.words.links.empty() ? "auto" : request.words.links);
  RINGLET_TRY(os::WriteFile(request.path, table.ToText(comment)));
  return kExitDone;
}

struct FastestAlgorithm {
  Algorithm algorithm = Algorithm::kRing;
  double us = 0;
};
/// The fastest algorithm for each size of a block.
using FastestBySize = std::map<std::size_t, FastestAlgorithm>;

/// Returns the winners of one operation among the times in registered or in unregistered memory.
FastestBySize FastestBySizeOf(const std::vector<AlgorithmTimes>& times, collective::CallKind kind,
                              bool on_shared_memory, bool registered) {
  FastestBySize winners;
  for (const AlgorithmTimes& one : times) {
    if (one.kind != kind || IsOnSharedMemory(one.algorithm) != on_shared_memory ||
        one.registered != registered)
      continue;
    for (const auto& [bytes, us] : one.us_by_bytes) {
      const auto [place, is_first] = winners.try_emplace(bytes, one.algorithm, us);
      if (!is_first && us < place->second.us) place->second = {one.algorithm, us};
    }
  }
  return winners;
}

void AddChoices(const FastestBySize& winners, collective::TunedChoice choice,
                std::vector<collective::TunedChoice>& choices) {
  for (auto size = winners.begin(); size != winners.end(); ++size) {
    const auto next = std::next(size);
    if (next != winners.end() && next->second.algorithm == size->second.algorithm) continue;
    choice.algorithm = size->second.algorithm;
    choice.bytes_max = collective::kAnyBytes;
    if (next != winners.end())
      choice.bytes_max = static_cast<std::size_t>(
          std::sqrt(static_cast<double>(size->first) * static_cast<double>(next->first)));
    if (choice.algorithm == Algorithm::kOneShot)
      choice.bytes_max = std::min(choice.bytes_max, OneShotMax(choice.kind, choice.ranks));
    choices.push_back(choice);
  }
}

}  // namespace

std::vector<collective::TunedChoice> FastestOf(const std::vector<AlgorithmTimes>& times,
                                               std::uint32_t ranks, std::uint32_t hosts) {
  std::vector<collective::TunedChoice> choices;
  for (std::size_t i = 0; i < collective::kCallKinds; ++i) {
    const auto kind = static_cast<collective::CallKind>(i);
    const collective::TunedChoice choice{.kind = kind, .ranks = ranks, .hosts = hosts};
    AddChoices(FastestBySizeOf(times, kind, false, false), choice, choices);
    FastestBySize on_host = FastestBySizeOf(times, kind, true, false);
    const FastestBySize registered = FastestBySizeOf(times, kind, true, true);
    for (auto& [bytes, winner] : on_host)
      if (const auto found = registered.find(bytes);
          winner.algorithm == Algorithm::kSlices && found != registered.end())
        winner = found->second;
    AddChoices(on_host, choice, choices);
  }
  return choices;
}

collective::MeasuredLinks LinksOf(const std::vector<AlgorithmTimes>& times, std::uint32_t ranks,
                                  std::uint32_t hosts) {
  const auto find = [&](collective::CallKind kind, Algorithm algorithm) -> const AlgorithmTimes* {
    for (const AlgorithmTimes& one : times)
      if (one.kind == kind && one.algorithm == algorithm && !one.us_by_bytes.empty()) return &one;
    return nullptr;
  };
  const AlgorithmTimes* const ring = find(collective::CallKind::kAllReduce, Algorithm::kRing);
  if (ring == nullptr || ranks < 2) return {};
  const auto [least, most] =
      std::minmax_element(ring->us_by_bytes.begin(), ring->us_by_bytes.end());
  if (least->first == most->first || most->second <= least->second) return {};
  const collective::CostModel known;
  const double hops = 2.0 * (ranks - 1);
  // Each byte of the call passes a link hops / ranks times and is reduced half as often.
  const double us_per_byte = (most->second - least->second) /
                             static_cast<double>(most->first - least->first) * ranks / hops;
  const double moving = std::max(us_per_byte - 0.5 / known.reduce_mb_per_s, us_per_byte / 2);
  const double share = static_cast<double>(least->first) / ranks;
  const double hop = std::max(least->second / hops - share * us_per_byte, 0.01) * 1'000;
  // A processor spends its overhead once per message, one message after the other.
  const std::uint32_t beside = hosts > 1 ? ranks - (ranks + hosts - 1) / hosts : ranks - 1;
  double overhead = hop / 4;
  if (const auto* direct = find(collective::CallKind::kAllToAll, Algorithm::kDirect);
      direct != nullptr && beside > 1) {
    const auto smallest = *std::min_element(direct->us_by_bytes.begin(), direct->us_by_bytes.end());
    overhead = (smallest.second * 1'000 - hop) / (beside - 1);
  }
  overhead = std::clamp(overhead, hop / 20, hop / 2);
  const auto whole = [](double value) { return std::max<std::int64_t>(1, std::llround(value)); };
  const collective::LinkCost link{.latency_ns = static_cast<std::uint64_t>(whole(hop - overhead)),
                                  .overhead_ns = static_cast<std::uint64_t>(whole(overhead)),
                                  .mb_per_s = static_cast<std::uint32_t>(whole(1 / moving))};
  return hosts > 1 ? collective::MeasuredLinks{{}, link} : collective::MeasuredLinks{link, {}};
}

void AddBenchTune(CLI::App& bench, Action& chosen) {
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<TuneRequest>();
  request->words.factor = 4;
  bench
      .add_option("--tune", request->path,
                  "Measure all algorithms, through shared memory and over links, and write the "
                  "fastest ones to this file for RINGLET_TUNE_FILE")
      ->type_name(kFileType);
  BenchWords& words = request->words;
  for (CLI::Option* option : AddTuneOptions(bench, words)) option->needs("--tune");
  bench.callback([&bench, request, &chosen] {
    if (!bench.get_subcommands().empty()) return;
    chosen = [request] {
      if (request->path.empty())
        return Fail("bench",
                    {Code::kInvalidArgument,
                     "name an operation, init, plot or report, or a file for --tune; see --help"});
      const auto status = Tune(*request);
      return status.ok() ? *status : Fail(kTune, status.error());
    };
  });
}

}  // namespace ringlet::cli
