#include "tool/bench/bench_reform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/value/prng.hpp"
#include "collective/call/call.hpp"
#include "comm/establish/establish.hpp"
#include "comm/establish/split.hpp"
#include "os/clock.hpp"
#include "os/process/env.hpp"
#include "os/process/limits.hpp"
#include "os/process/signals.hpp"
#include "rendezvous/invitation.hpp"
#include "tool/bench/reform_report.hpp"
#include "tool/run/launcher.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/terminal.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kBenchReform = "bench reform";
constexpr std::uint32_t kReformRanksMax = 1024;
constexpr std::uint32_t kReformIterationsMax = 10'000;
constexpr std::size_t kElements = 1024;
// A victim dies before one of these operations.
constexpr std::uint64_t kFirstDeath = 100, kDeathsSpread = 400;

struct ReformWords {
  std::vector<std::uint32_t> ranks = {8};
  std::uint32_t victims = 1;
  std::string which = "any";
  std::uint32_t iterations = 10;
  std::uint64_t seed = 1;
  bool json = false;
  std::vector<std::uint32_t> worker_victims;  ///< not empty: this process is a rank
  std::uint64_t death = 0;                    ///< the operation before which the victims die
};

// ---- One of the ranks -------------------------------------------------------------------------

void PrintReformLine(const ReformLine& line) {
  fmt::print("{}\n", ToLine(line));
  std::fflush(stdout);
}

struct Sums {
  std::vector<float> input, output;

  explicit Sums(std::uint32_t rank)
      : input(kElements, static_cast<float>(rank + 1)), output(kElements) {}
  Status Run(comm::Communicator& communicator) {
    const std::size_t bytes = kElements * sizeof(float);
    return communicator.Run({.kind = collective::CallKind::kAllReduce,
                             .input = {reinterpret_cast<const std::byte*>(input.data()), bytes},
                             .output = {reinterpret_cast<std::byte*>(output.data()), bytes},
                             .count = kElements,
                             .type = DataType::kFloat32,
                             .op = ReduceOp::kSum});
  }
  /// Returns true if the output is the sum over all ranks without the victims.
  bool IsRight(std::uint32_t ranks, const std::vector<std::uint32_t>& victims) const {
    float sum = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      if (std::ranges::find(victims, rank) == victims.end()) sum += static_cast<float>(rank + 1);
    return std::ranges::all_of(output, [&](float element) { return element == sum; });
  }
};

/// Sums until a rank is lost. A victim dies before one of the sums.
void SumUntilFailure(comm::Communicator& communicator, Sums& sums, const ReformWords& words) {
  const std::uint32_t rank = Index(communicator.identity().rank);
  const bool is_victim =
      std::ranges::find(words.worker_victims, rank) != words.worker_victims.end();
  for (std::uint64_t operation = 0; sums.Run(communicator).ok(); ++operation)
    if (is_victim && operation >= words.death) break;
  if (!is_victim) return;
  PrintReformLine({.rank = rank, .died = os::Now()});
  os::KillThisProcess();
}

/// Continues without the victims. They do not reform, so no rank of the result dies.
Result<ReformLine> Recover(const comm::Communicator& failed, Sums& sums, const ReformWords& words) {
  const auto& [rank, size] = failed.place();
  const Instant failed_at = failed.control().failed_at();
  RINGLET_TRY_ASSIGN(const auto rest, comm::Reform(failed, 1, {}));
  RINGLET_TRY(sums.Run(*rest));
  ReformLine line{.rank = Index(rank),
                  .told = failed_at,
                  .first_result = os::Now(),
                  .survivors = rest->identity().size,
                  .is_right = sums.IsRight(size, words.worker_victims)};
  if (const auto times = rest->control().recovery()) {
    line.agreed = failed_at + times->agreed;
    line.rebuilt = failed_at + times->rebuilt;
  }
  // A rank that has finished takes processor time from those without a result, so they wait.
  RINGLET_TRY(sums.Run(*rest));
  return line;
}

Status WorkAsRank(const ReformWords& words, const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::StartIn(environment));
  const Settings& settings = process->settings();
  const std::uint32_t rank = settings.rank.value_or(0);
  comm::Config config{.rank = rank, .size = words.ranks.front(), .device = rank};
  RINGLET_TRY_ASSIGN(config.id, rendezvous::FromText(settings.unique_id.text));
  RINGLET_TRY_ASSIGN(const auto communicator, comm::Establish(process, config, {}));
  Sums sums(rank);
  SumUntilFailure(*communicator, sums, words);
  RINGLET_TRY_ASSIGN(const ReformLine line, Recover(*communicator, sums, words));
  PrintReformLine(line);
  return Ok();
}

// ---- The launcher -----------------------------------------------------------------------------

std::vector<std::uint32_t> DrawVictims(const ReformWords& words, std::uint32_t ranks, Prng& prng) {
  std::vector<std::uint32_t> victims;
  while (victims.size() < words.victims) {
    const auto victim = words.which == "first" ? static_cast<std::uint32_t>(victims.size())
                                               : static_cast<std::uint32_t>(prng.Below(ranks));
    if (std::ranges::find(victims, victim) == victims.end()) victims.push_back(victim);
  }
  return victims;
}

Result<RecoveryRun> RunOnce(os::SignalQueue& signals, const ReformWords& words, std::uint32_t ranks,
                            const EnvMap& environment, Prng& prng) {
  const std::vector<std::uint32_t> victims = DrawVictims(words, ranks, prng);
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::StartIn(environment));
  RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
  os::Command command{{"/proc/self/exe", "bench", "reform", "-n", std::to_string(ranks),
                       "--worker-victims", fmt::format("{}", fmt::join(victims, ",")), "--death",
                       std::to_string(kFirstDeath + prng.Below(kDeathsSpread))},
                      environment};
  command.environment["RINGLET_UNIQUE_ID"] = rendezvous::ToText(id);
  LauncherOptions launcher;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    command.environment["RINGLET_RANK"] = std::to_string(rank);
    launcher.commands.push_back(command);
  }
  launcher.keep_going = true;
  std::vector<ReformLine> lines;
  launcher.on_line = [&](Rank rank, Stream stream, std::string_view text) {
    const auto line = stream == Stream::kOutput ? ParseReformLine(text) : std::nullopt;
    if (line)
      lines.push_back(*line);
    else
      fmt::print(stderr, "[{}] {}\n", Index(rank), text);
  };
  launcher.on_failure = [](const RankEnd&) {};
  RINGLET_TRY_ASSIGN(const LauncherOutcome outcome, LaunchRanks(signals, launcher));
  if (outcome.user_signal)
    return Error{Code::kAborted, fmt::format("ended by {}", os::SignalName(*outcome.user_signal))};
  return CombineRecovery(lines, ranks, words.victims);
}

int Launch(const ReformWords& words, const EnvMap& environment) {
  for (const std::uint32_t ranks : words.ranks)
    if (words.victims >= ranks)
      return Fail(kBenchReform,
                  {Code::kInvalidArgument,
                   fmt::format("--kill {} leaves no rank of {}", words.victims, ranks)});
  auto signals = TakeSignals();
  if (!signals.ok()) return Fail(kBenchReform, signals.error());
  os::RaiseDescriptorLimit();
  Prng prng(words.seed);
  if (!words.json) PrintFitted(ReformHeadText(words.iterations));
  for (const std::uint32_t ranks : words.ranks) {
    ReformReport report{.ranks = ranks, .victims = words.victims, .runs = {}};
    for (std::uint32_t i = 0; i < words.iterations; ++i) {
      const auto run = RunOnce(**signals, words, ranks, environment, prng);
      if (!run.ok()) return Fail(kBenchReform, run.error());
      report.runs.push_back(*run);
    }
    if (words.json)
      fmt::print("{}", ReformJson(report));
    else
      PrintFitted(ReformRowText(report));
    std::fflush(stdout);
  }
  return kExitDone;
}

int Run(const ReformWords& words) {
  EnvMap environment = WithLogOnErrors(os::ReadEnvironment());
  environment.try_emplace("RINGLET_SOCKET_IFNAME", "lo");  // all ranks are on this machine
  // A hang ends soon, because nobody else would end it.
  environment.try_emplace("RINGLET_TIMEOUT", "60");
  environment.try_emplace("RINGLET_INIT_TIMEOUT", "60");
  if (words.worker_victims.empty()) return Launch(words, environment);
  return ExitStatusOf(kBenchReform, WorkAsRank(words, environment));
}

}  // namespace

void AddBenchReform(CLI::App& bench, Action& chosen) {
  CLI::App* reform =
      bench.add_subcommand("reform", "Measure how fast ranks continue after others have died");
  // The parser fills the words, and the action reads them later.
  const auto words = std::make_shared<ReformWords>();
  reform
      ->add_option("-n,--ranks", words->ranks,
                   "Numbers of ranks, each a process on this machine; one row each")
      ->type_name(kNumbersType)
      ->delimiter(',')
      ->check(CLI::Range(2u, kReformRanksMax))
      ->capture_default_str();
  reform->add_option("--kill", words->victims, "Number of ranks that die at the same operation")
      ->check(CLI::Range(1u, kReformRanksMax))
      ->capture_default_str();
  reform
      ->add_option("--which", words->which,
                   "Ranks that die: any, drawn anew each time, or first, from rank 0 on")
      ->check(CLI::IsMember({"any", "first"}))
      ->capture_default_str();
  reform->add_option("-i,--iters", words->iterations, "Repetitions, each with new processes")
      ->check(CLI::Range(1u, kReformIterationsMax))
      ->capture_default_str();
  reform->add_option("--seed", words->seed, "Random seed for the ranks and operations of deaths")
      ->capture_default_str();
  reform->add_flag("--json", words->json,
                   "One object per line for each number of ranks: n, die, told_ms, agreed_ms, "
                   "rebuilt_ms, first_result_ms, repetitions");
  reform->add_option("--worker-victims", words->worker_victims)->delimiter(',')->group("");
  reform->add_option("--death", words->death)->group("");
  reform->callback([words, &chosen] { chosen = [words] { return Run(*words); }; });
}

}  // namespace ringlet::cli
