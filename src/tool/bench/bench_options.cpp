#include "tool/bench/bench_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "tool/operation/bench_operation.hpp"
#include "tool/operation/size_units.hpp"
#include "tool/peers/peer_build.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/quantity.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

// Each rank is a process or a thread on this machine.
constexpr std::uint32_t kBenchRanksMax = 4096;
constexpr std::uint32_t kRepeatsMax = 1'000'000;
constexpr std::uint32_t kRoundsMax = 100;
constexpr std::uint32_t kHostsMax = 64;
constexpr std::uint32_t kNicsMax = 8;
constexpr std::uint32_t kBusyMax = 1024;

std::vector<std::string> LinkNames() {
  const std::vector<std::string_view> names = Split(kLinkNames, '|');
  return {names.begin(), names.end()};
}

std::vector<CLI::Option*> AddRankOptions(CLI::App& command, BenchWords& words) {
  return {
      command.add_option("-n,--ranks", words.ranks, "Number of ranks, all on this machine")
          ->check(CLI::Range(1u, kBenchRanksMax))
          ->capture_default_str(),
      command.add_option("--links", words.links, "Links between ranks, instead of RINGLET_LINKS")
          ->check(CLI::IsMember(LinkNames())),
      command
          .add_option("--hosts", words.hosts,
                      "Network namespaces that share the ranks evenly, joined by a switch; "
                      "needs root")
          ->check(CLI::Range(1u, kHostsMax)),
      command.add_option("--nics", words.nics, "NICs of each host, each on its own switch")
          ->check(CLI::Range(1u, kNicsMax))
          ->capture_default_str(),
      command.add_option("--rate", words.rate, "Bandwidth of each link to a switch, per direction")
          ->type_name(kRateType)
          ->capture_default_str(),
      command.add_option("--delay", words.delay, "Latency between two hosts, one way")
          ->type_name(kTimeType)
          ->capture_default_str()};
}

std::vector<CLI::Option*> AddSizeOptions(CLI::App& command, BenchWords& words) {
  return {command
              .add_option("-b,--min-bytes", words.min_bytes,
                          fmt::format("Smallest size; {}", kSizeUnitsHelp))
              ->type_name(kSizeType)
              ->capture_default_str(),
          command.add_option("-e,--max-bytes", words.max_bytes, "Largest size")
              ->type_name(kSizeType)
              ->capture_default_str(),
          command.add_option("-f,--factor", words.factor, "Factor between a size and the next")
              ->capture_default_str()};
}

// Lists values for the help and for completion. The parser of the value checks them later.
CLI::Validator Offered(std::string_view values) {
  return {[](std::string&) { return std::string(); }, fmt::format("{{{}}}", values)};
}

void AddDataOptions(CLI::App& command, BenchWords& words) {
  const BenchOperation& operation = *BenchOperationNamed(words.operation);
  AddSizeOptions(command, words);
  command.add_option("-d,--type", words.type, "Type of the elements")
      ->check(
          Offered("int8,uint8,int32,uint32,int64,uint64,half,float,double,bfloat16,f8e4m3,f8e5m2"))
      ->capture_default_str();
  if (collective::Reduces(operation.kind))
    command.add_option("-o,--op", words.op, "Reduction of the elements")
        ->check(Offered("sum,prod,max,min,avg"))
        ->capture_default_str();
  if (collective::HasRoot(operation.kind))
    command.add_option("--root", words.root, "Root rank, which has or receives all data")
        ->capture_default_str();
  command.add_flag("--check", words.check, "Verify every element; a wrong element is a failure");
  if (!operation.in_place) return;
  auto* const in_place = command.add_flag("--in-place", words.in_place, "Only in place");
  command.add_flag("--out-of-place", words.out_of_place, "Only out of place")->excludes(in_place);
}

/// Returns the named placement. By default: both, or out of place if peers are measured.
Placement PlacementOf(const BenchWords& words) {
  if (words.in_place) return Placement::kInPlace;
  return words.out_of_place || !words.peers.empty() ? Placement::kOutOfPlace : Placement::kBoth;
}

Result<std::vector<std::size_t>> CallCounts(const SweepRange& range,
                                            const BenchOperation& operation, DataType type,
                                            std::uint32_t ranks) {
  RINGLET_TRY_ASSIGN(std::vector<std::size_t> counts, Counts(range, type));
  for (std::size_t& count : counts) count = CallCount(operation, count, ranks);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

Status CheckTogether(const BenchWords& words, const BenchOptions& options) {
  if (words.root >= words.ranks)
    return Error{Code::kInvalidArgument, fmt::format("--root {} is not one of {}", words.root,
                                                     Counted(words.ranks, "rank"))};
  if (!words.peers.empty() && options.threads)
    return Error{Code::kInvalidArgument,
                 "--vs measures ranks that are processes; --threads, or links inproc, exclude it"};
  if (words.changing && std::ranges::count(words.peers, "gloo") > 0)
    return Error{Code::kInvalidArgument,
                 "--vs gloo excludes --changing: the program for Gloo does not write its input"};
  if (words.hosts > words.ranks)
    return Error{Code::kInvalidArgument,
                 fmt::format("too few ranks for {}: {}", Counted(words.hosts, "host"),
                             Counted(words.ranks, "rank"))};
  if (words.hosts > 1 && options.threads)
    return Error{Code::kInvalidArgument,
                 "--hosts needs ranks that are processes; --threads, or links inproc, exclude it"};
  return Ok();
}

}  // namespace

std::vector<CLI::Option*> AddTuneOptions(CLI::App& command, BenchWords& words) {
  std::vector<CLI::Option*> options = AddRankOptions(command, words);
  const auto sizes = AddSizeOptions(command, words);
  options.insert(options.end(), sizes.begin(), sizes.end());
  return options;
}

void AddBenchOptions(CLI::App& command, BenchWords& words) {
  AddRankOptions(command, words);
  if (words.operation != "barrier") AddDataOptions(command, words);
  command.add_flag("--json", words.json,
                   "One object: op, ranks, links, type, redop, root, peers, mean_busbw_gb_s, rows "
                   "(size, count, time_us, p99_us, cpu_us, wrong, in_place, peers)");
  command
      .add_option(
          "--output", words.output,
          "Add the run to this file for bench/report.py, with machine, day and versions of --vs")
      ->type_name(kFileType);
  command.add_flag("--threads", words.threads,
                   "Ranks are threads of one process; --links inproc implies it");
  command.add_flag("--registered", words.registered,
                   "Use registered memory as buffers, which ranks of one host do not copy");
  command.add_flag("--changing", words.changing,
                   "Each rank writes its input before each operation, and the time includes it; "
                   "not with --vs gloo");
  command
      .add_option("--busy", words.busy,
                  "Number of programs that compute at the same time as the ranks")
      ->check(CLI::Range(0u, kBusyMax));
  command.add_flag(
      "--unbound", words.unbound,
      "Let ranks run on any core; otherwise each has its own core if the machine has enough");
  command
      .add_option("-w,--warmup", words.warmup,
                  "Runs before measuring; default: depends on the size")
      ->check(CLI::Range(0u, kRepeatsMax));
  command
      .add_option("-i,--iterations", words.iterations,
                  "Measured runs; default: depends on the size")
      ->check(CLI::Range(1u, kRepeatsMax));
  auto* const late = command
                         .add_option("--late", words.late,
                                     "Delay of the last rank behind the others; --json reports the "
                                     "cost of waiting (cpu_us)")
                         ->type_name(kTimeType);
  command
      .add_option("--vs", words.peers, "Measure these libraries too, in turns: " + PeerNamesText())
      ->delimiter(',')
      ->excludes(late)
      ->check(CLI::IsMember(PeerNames()));
  command.add_option("--rounds", words.rounds, "Turns of each library with --vs")
      ->check(CLI::Range(1u, kRoundsMax))
      ->capture_default_str();
  command.add_flag("--worker", words.worker)->group("");  // hidden: only the bench uses it
}

std::vector<std::string> WorkerArguments(const BenchWords& words) {
  std::vector<std::string> arguments{"bench", words.operation, "-n", std::to_string(words.ranks),
                                     "--worker"};
  const auto add = [&](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
  };
  if (words.operation != "barrier") {
    add({"-b", words.min_bytes, "-e", words.max_bytes, "-f", std::to_string(words.factor), "-d",
         words.type});
    if (words.check) add({"--check"});
  }
  const BenchOperation* const operation = BenchOperationNamed(words.operation);
  if (collective::Reduces(operation->kind)) add({"-o", words.op});
  if (collective::HasRoot(operation->kind)) add({"--root", std::to_string(words.root)});
  if (words.in_place) add({"--in-place"});
  if (operation->in_place && PlacementOf(words) == Placement::kOutOfPlace) add({"--out-of-place"});
  if (words.unbound) add({"--unbound"});
  if (words.registered) add({"--registered"});
  if (words.late != "0") add({"--late", words.late});
  if (words.changing) add({"--changing"});
  if (!words.links.empty()) add({"--links", words.links});
  if (words.warmup) add({"-w", std::to_string(*words.warmup)});
  if (words.iterations) add({"-i", std::to_string(*words.iterations)});
  return arguments;
}

Result<BenchOptions> ParseBenchOptions(const BenchWords& words, LinkChoice links) {
  BenchOptions options;
  options.ranks = words.ranks;
  options.json = words.json;
  options.threads = words.threads || links == LinkChoice::kInproc;
  const auto type = DataTypeNamed(words.type);
  if (!type)
    return Error{Code::kInvalidArgument,
                 fmt::format("-d \"{}\" is not an element type; see --help", words.type)};
  const auto op = ReduceOpNamed(words.op);
  if (!op)
    return Error{
        Code::kInvalidArgument,
        fmt::format("-o \"{}\" is not a reduction; use sum, prod, max, min or avg", words.op)};
  RINGLET_TRY_ASSIGN(options.range.min_bytes, ParseSize(words.min_bytes));
  RINGLET_TRY_ASSIGN(options.range.max_bytes, ParseSize(words.max_bytes));
  options.range.factor = words.factor;
  const BenchOperation& operation = *BenchOperationNamed(words.operation);
  RINGLET_TRY_ASSIGN(options.measure.counts,
                     CallCounts(options.range, operation, *type, words.ranks));
  options.measure.kind = operation.kind;
  options.measure.placement = PlacementOf(words);
  options.measure.root = Rank{words.root};
  options.measure.threads = options.threads;
  options.measure.bound = !words.unbound;
  options.measure.registered = words.registered;
  options.measure.changing = words.changing;
  options.measure.type = *type;
  options.measure.op = *op;
  options.measure.check = words.check;
  RINGLET_TRY_ASSIGN(options.measure.late, ParseDuration(words.late));
  options.measure.warmup = words.warmup;
  options.measure.iterations = words.iterations;
  options.peers = words.peers;
  options.rounds = words.peers.empty() ? 1 : words.rounds;
  options.busy = words.busy;
  options.net.hosts = words.hosts;
  options.net.nics = words.nics;
  RINGLET_TRY_ASSIGN(options.net.mb_per_s, ParseBandwidth(words.rate));
  RINGLET_TRY_ASSIGN(options.net.delay, ParseDuration(words.delay));
  RINGLET_TRY(CheckTogether(words, options));
  return options;
}

}  // namespace ringlet::cli
