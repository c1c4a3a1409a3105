#include "frontends/cli/bench_options.hpp"

#include <fmt/format.h>

namespace ringlet::cli {
namespace {

// One process or thread a rank, all on this machine.
constexpr std::uint32_t kRanksMax = 4096;
constexpr std::uint32_t kRepeatsMax = 1'000'000;

}  // namespace

void AddBenchOptions(CLI::App& command, BenchWords& words) {
  command.add_option("-n,--ranks", words.ranks, "Number of ranks, all on this machine")
      ->check(CLI::Range(1u, kRanksMax))
      ->capture_default_str();
  command.add_option("-b,--min-bytes", words.min_bytes, "Smallest size; K, M and G are 1024-based")
      ->capture_default_str();
  command.add_option("-e,--max-bytes", words.max_bytes, "Largest size")->capture_default_str();
  command.add_option("-f,--factor", words.factor, "Each size is the last times this")
      ->capture_default_str();
  command
      .add_option("-d,--type", words.type,
                  "int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, "
                  "f8e4m3, f8e5m2")
      ->capture_default_str();
  command.add_option("-o,--op", words.op, "sum, prod, max, min, avg")->capture_default_str();
  command.add_option("--links", words.links, "How ranks are linked, in place of RINGLET_LINKS")
      ->check(CLI::IsMember({"auto", "shm", "tcp", "inproc"}));
  command.add_flag("--check", words.check, "Verify every element; any wrong one is a failure");
  command.add_flag("--json", words.json, "One JSON object on standard output, in place of a table");
  command.add_flag("--threads", words.threads,
                   "Ranks are threads of one process; --links inproc implies it");
  command
      .add_option("-w,--warmup", words.warmup, "Runs before measuring; else adapted to the size")
      ->check(CLI::Range(0u, kRepeatsMax));
  command
      .add_option("-i,--iterations", words.iterations, "Runs measured; else adapted to the size")
      ->check(CLI::Range(1u, kRepeatsMax));
  command.add_flag("--worker", words.worker)->group("");  // not shown: only we use it
}

std::vector<std::string> WorkerArguments(const BenchWords& words) {
  std::vector<std::string> arguments{
      "bench", "all_reduce",    "-n",      std::to_string(words.ranks),  "-b", words.min_bytes,
      "-e",    words.max_bytes, "-f",      std::to_string(words.factor), "-d", words.type,
      "-o",    words.op,        "--worker"};
  if (!words.links.empty()) arguments.insert(arguments.end(), {"--links", words.links});
  if (words.check) arguments.push_back("--check");
  if (words.warmup) arguments.insert(arguments.end(), {"-w", std::to_string(*words.warmup)});
  if (words.iterations)
    arguments.insert(arguments.end(), {"-i", std::to_string(*words.iterations)});
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
                 fmt::format("-d \"{}\" is no element type; see --help", words.type)};
  const auto op = ReduceOpNamed(words.op);
  if (!op)
    return Error{
        Code::kInvalidArgument,
        fmt::format("-o \"{}\" is no reduction; one of sum, prod, max, min, avg", words.op)};
  RINGLET_TRY_ASSIGN(options.range.min_bytes, ParseSize(words.min_bytes));
  RINGLET_TRY_ASSIGN(options.range.max_bytes, ParseSize(words.max_bytes));
  options.range.factor = words.factor;
  RINGLET_TRY_ASSIGN(options.measure.counts, Counts(options.range, *type));
  options.measure.type = *type;
  options.measure.op = *op;
  options.measure.check = words.check;
  options.measure.warmup = words.warmup;
  options.measure.iterations = words.iterations;
  return options;
}

}  // namespace ringlet::cli
