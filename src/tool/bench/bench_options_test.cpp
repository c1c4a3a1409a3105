#include "tool/bench/bench_options.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

// Parses a command line. Null if it is refused.
std::optional<BenchWords> Read(std::vector<std::string> arguments,
                               const std::string& operation = "all_reduce") {
  CLI::App app("bench");
  BenchWords words;
  words.operation = operation;
  AddBenchOptions(app, words);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the arguments in reverse
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError&) {
    return std::nullopt;
  }
  return words;
}

BenchOptions Parse(const std::vector<std::string>& arguments) {
  return ParseBenchOptions(Read(arguments).value(), LinkChoice::kAuto).value();
}

std::string OptionsErrorOf(const std::vector<std::string>& arguments) {
  const auto options = ParseBenchOptions(Read(arguments).value(), LinkChoice::kAuto);
  return options.ok() ? "no error" : options.error().message;
}

TEST(BenchOptionsTest, HaveDocumentedDefaults) {
  const BenchOptions options = Parse({});
  EXPECT_EQ(options.ranks, 4u);
  EXPECT_EQ(options.measure.type, DataType::kFloat32);
  EXPECT_EQ(options.measure.op, ReduceOp::kSum);
  EXPECT_EQ(options.measure.counts.front(), 2u);
  EXPECT_EQ(options.measure.counts.back(), std::size_t{16} << 20);
  EXPECT_FALSE(options.measure.check);
  EXPECT_FALSE(options.threads);
  EXPECT_TRUE(options.measure.bound);
}

TEST(BenchOptionsTest, EveryOptionTakesEffect) {
  const BenchOptions options =
      Parse({"-n", "2",   "-b",      "1K",     "-e",        "4K", "-f", "4",  "-d", "bf16",
             "-o", "max", "--check", "--json", "--threads", "-w", "0",  "-i", "7",  "--unbound"});
  EXPECT_EQ(options.ranks, 2u);
  EXPECT_THAT(options.measure.counts, testing::ElementsAre(512, 2048));
  EXPECT_EQ(options.measure.type, DataType::kBfloat16);
  EXPECT_EQ(options.measure.op, ReduceOp::kMax);
  EXPECT_TRUE(options.measure.check);
  EXPECT_TRUE(options.json);
  EXPECT_TRUE(options.threads);
  EXPECT_FALSE(options.measure.bound);
  EXPECT_EQ(options.measure.warmup, 0u);
  EXPECT_EQ(options.measure.iterations, 7u);
}

TEST(BenchOptionsTest, InprocLinksMakeTheRanksThreads) {
  EXPECT_TRUE(ParseBenchOptions(BenchWords(), LinkChoice::kInproc)->threads);
  EXPECT_FALSE(ParseBenchOptions(BenchWords(), LinkChoice::kShm)->threads);
}

TEST(BenchOptionsTest, ErrorsNameTheWrongValue) {
  EXPECT_THAT(OptionsErrorOf({"-d", "float128"}), HasSubstr("float128"));
  EXPECT_THAT(OptionsErrorOf({"-o", "xor"}), HasSubstr("xor"));
  EXPECT_THAT(OptionsErrorOf({"-b", "8Q"}), HasSubstr("8Q"));
  EXPECT_THAT(OptionsErrorOf({"-b", "16", "-e", "8"}), HasSubstr("16"));
  EXPECT_THAT(OptionsErrorOf({"-f", "1"}), HasSubstr("factor"));
  EXPECT_THAT(OptionsErrorOf({"--vs", "openmpi,gloo", "--changing"}), HasSubstr("does not write"));
  EXPECT_FALSE(Read({"-n", "0"}).has_value());
  EXPECT_FALSE(Read({"--links", "rdma"}).has_value());
  EXPECT_FALSE(Read({"-i", "0"}).has_value());
  EXPECT_FALSE(Read({"--bogus"}).has_value());
}

TEST(BenchOptionsTest, AWorkerReceivesTheSameOptions) {
  const auto words =
      Read({"-n", "3",    "-b", "1K",   "-e",           "4K",        "-f",      "4",
            "-d", "half", "-o", "prod", "--check",      "--json",    "--links", "tcp",
            "-w", "2",    "-i", "7",    "--registered", "--changing"})
          .value();
  std::vector<std::string> arguments = WorkerArguments(words);
  EXPECT_EQ(arguments.at(0), "bench");
  EXPECT_EQ(arguments.at(1), "all_reduce");
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  const BenchWords worker = Read(arguments).value();
  EXPECT_TRUE(worker.worker);
  EXPECT_EQ(worker.links, "tcp");
  const BenchOptions options = ParseBenchOptions(worker, LinkChoice::kTcp).value();
  EXPECT_EQ(options.ranks, 3u);
  EXPECT_THAT(options.measure.counts, testing::ElementsAre(512, 2048));
  EXPECT_EQ(options.measure.op, ReduceOp::kProd);
  EXPECT_TRUE(options.measure.check);
  EXPECT_TRUE(options.measure.registered);
  EXPECT_TRUE(options.measure.changing);
  EXPECT_EQ(options.measure.warmup, 2u);
  EXPECT_EQ(options.measure.iterations, 7u);
}

TEST(BenchOptionsTest, OperationsAcceptOnlyTheirOptions) {
  EXPECT_TRUE(Read({"--root", "1"}, "broadcast").has_value());
  EXPECT_FALSE(Read({"--root", "1"}).has_value());
  EXPECT_FALSE(Read({"-o", "max"}, "alltoall").has_value());
  EXPECT_FALSE(Read({"--in-place"}, "sendrecv").has_value());
  EXPECT_FALSE(Read({"-b", "8"}, "barrier").has_value());
  EXPECT_FALSE(Read({"--in-place", "--out-of-place"}).has_value());
}

TEST(BenchOptionsTest, RanksShareTheSizeInGatheringOperations) {
  const auto words = Read({"-n", "4", "-b", "4", "-e", "64"}, "all_gather");
  const BenchOptions options = ParseBenchOptions(*words, LinkChoice::kAuto).value();
  EXPECT_THAT(options.measure.counts, testing::ElementsAre(1, 2, 4));
  EXPECT_EQ(options.measure.kind, CallKind::kAllGather);
  const auto barrier = ParseBenchOptions(*Read({}, "barrier"), LinkChoice::kAuto).value();
  EXPECT_THAT(barrier.measure.counts, testing::ElementsAre(0));
}

TEST(BenchOptionsTest, AComparisonRunsOnePlacementInSeveralRounds) {
  const BenchOptions options = Parse({"--vs", "gloo,mpich", "--rounds", "5"});
  EXPECT_THAT(options.peers, testing::ElementsAre("gloo", "mpich"));
  EXPECT_EQ(options.rounds, 5u);
  EXPECT_EQ(options.measure.placement, Placement::kOutOfPlace);
  EXPECT_EQ(Parse({"--vs", "gloo", "--in-place"}).measure.placement, Placement::kInPlace);
  EXPECT_EQ(Parse({}).measure.placement, Placement::kBoth);
  EXPECT_EQ(Parse({}).rounds, 1u);
  EXPECT_FALSE(Read({"--vs", "nccl"}).has_value());
  EXPECT_THAT(OptionsErrorOf({"--vs", "gloo", "--threads"}), HasSubstr("--threads"));
}

TEST(BenchOptionsTest, AWorkerOfAComparisonMeasuresOnePlacement) {
  std::vector<std::string> arguments = WorkerArguments(Read({"--vs", "gloo"}).value());
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  EXPECT_EQ(Parse(arguments).measure.placement, Placement::kOutOfPlace);
}

TEST(BenchOptionsTest, HostsShareTheRanks) {
  const BenchOptions options =
      Parse({"-n", "4", "--hosts", "2", "--rate", "5Gbit", "--delay", "5ms"});
  EXPECT_EQ(options.net.hosts, 2u);
  EXPECT_EQ(options.net.mb_per_s, 625u);
  EXPECT_EQ(options.net.delay, std::chrono::milliseconds(5));
  EXPECT_EQ(Parse({}).net.hosts, 1u);
  EXPECT_EQ(options.net.nics, 1u);
  EXPECT_EQ(Parse({"-n", "4", "--hosts", "2", "--nics", "3"}).net.nics, 3u);
  EXPECT_THAT(OptionsErrorOf({"-n", "2", "--hosts", "3"}),
              HasSubstr("too few ranks for 3 hosts: 2 ranks"));
  EXPECT_THAT(OptionsErrorOf({"--hosts", "2", "--threads"}), HasSubstr("--threads"));
  EXPECT_THAT(OptionsErrorOf({"--hosts", "2", "--rate", "much"}), HasSubstr("much"));
}

TEST(BenchOptionsTest, OnlyTheLauncherStartsBusyPrograms) {
  EXPECT_EQ(Parse({}).busy, 0u);
  EXPECT_EQ(Parse({"--busy", "2", "--vs", "gloo"}).busy, 2u);
  EXPECT_THAT(WorkerArguments(Read({"--busy", "2"}).value()),
              testing::Not(testing::Contains("--busy")));
  EXPECT_FALSE(Read({"--busy", "-1"}).has_value());
}

TEST(BenchOptionsTest, DelaysOnlyTheLastRank) {
  EXPECT_EQ(Parse({}).measure.late, Instant(0));
  std::vector<std::string> arguments = WorkerArguments(Read({"--late", "1s"}).value());
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  EXPECT_EQ(Parse(arguments).measure.late, std::chrono::seconds(1));
  EXPECT_THAT(OptionsErrorOf({"--late", "soon"}), HasSubstr("soon"));
  EXPECT_FALSE(Read({"--late", "1s", "--vs", "gloo"}).has_value());
}

TEST(BenchOptionsTest, NamesARootThatDoesNotExist) {
  const auto options =
      ParseBenchOptions(*Read({"-n", "2", "--root", "2"}, "reduce"), LinkChoice::kAuto);
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(options.error().message, HasSubstr("--root 2"));
}

TEST(BenchOptionsTest, AWorkerOfEveryOperationReadsItsArguments) {
  for (const BenchOperation& operation : BenchOperations()) {
    std::vector<std::string> typed{"-n", "3", "--json"};
    if (collective::HasRoot(operation.kind)) typed.insert(typed.end(), {"--root", "2"});
    if (operation.in_place) typed.emplace_back("--in-place");
    const auto words = Read(typed, std::string(operation.name)).value();
    std::vector<std::string> arguments = WorkerArguments(words);
    EXPECT_EQ(arguments.at(1), operation.name);
    arguments.erase(arguments.begin(), arguments.begin() + 2);
    const auto worker = Read(arguments, std::string(operation.name));
    ASSERT_TRUE(worker.has_value()) << operation.name;
    const auto options = ParseBenchOptions(*worker, LinkChoice::kAuto).value();
    EXPECT_EQ(options.measure.root, Rank{collective::HasRoot(operation.kind) ? 2u : 0u});
    EXPECT_EQ(options.measure.placement == Placement::kInPlace, operation.in_place);
  }
}

}  // namespace
}  // namespace ringlet::cli
