#include "frontends/cli/bench_options.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

// The words that a command line leaves, or none where it is refused.
std::optional<BenchWords> Read(std::vector<std::string> arguments) {
  CLI::App app("bench");
  BenchWords words;
  AddBenchOptions(app, words);
  std::reverse(arguments.begin(), arguments.end());  // what CLI11 wants
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

std::string ErrorOf(const std::vector<std::string>& arguments) {
  const auto options = ParseBenchOptions(Read(arguments).value(), LinkChoice::kAuto);
  return options.ok() ? "no error" : options.error().message;
}

TEST(BenchOptionsTest, Defaults) {
  const BenchOptions options = Parse({});
  EXPECT_EQ(options.ranks, 4u);
  EXPECT_EQ(options.measure.type, DataType::kFloat32);
  EXPECT_EQ(options.measure.op, ReduceOp::kSum);
  EXPECT_EQ(options.measure.counts.front(), 2u);
  EXPECT_EQ(options.measure.counts.back(), std::size_t{16} << 20);
  EXPECT_FALSE(options.measure.check);
  EXPECT_FALSE(options.threads);
}

TEST(BenchOptionsTest, EveryOptionIsHeard) {
  const BenchOptions options =
      Parse({"-n", "2", "-b", "1K", "-e", "4K", "-f", "4", "-d", "bf16", "-o", "max", "--check",
             "--json", "--threads", "-w", "0", "-i", "7"});
  EXPECT_EQ(options.ranks, 2u);
  EXPECT_THAT(options.measure.counts, testing::ElementsAre(512, 2048));
  EXPECT_EQ(options.measure.type, DataType::kBfloat16);
  EXPECT_EQ(options.measure.op, ReduceOp::kMax);
  EXPECT_TRUE(options.measure.check);
  EXPECT_TRUE(options.json);
  EXPECT_TRUE(options.threads);
  EXPECT_EQ(options.measure.warmup, 0u);
  EXPECT_EQ(options.measure.iterations, 7u);
}

TEST(BenchOptionsTest, InprocLinksMakeTheRanksThreads) {
  EXPECT_TRUE(ParseBenchOptions(BenchWords(), LinkChoice::kInproc)->threads);
  EXPECT_FALSE(ParseBenchOptions(BenchWords(), LinkChoice::kShm)->threads);
}

TEST(BenchOptionsTest, MistakesAreNamed) {
  EXPECT_THAT(ErrorOf({"-d", "float128"}), HasSubstr("float128"));
  EXPECT_THAT(ErrorOf({"-o", "xor"}), HasSubstr("xor"));
  EXPECT_THAT(ErrorOf({"-b", "8Q"}), HasSubstr("8Q"));
  EXPECT_THAT(ErrorOf({"-b", "16", "-e", "8"}), HasSubstr("16"));
  EXPECT_THAT(ErrorOf({"-f", "1"}), HasSubstr("factor"));
  EXPECT_FALSE(Read({"-n", "0"}).has_value());
  EXPECT_FALSE(Read({"--links", "rdma"}).has_value());
  EXPECT_FALSE(Read({"-i", "0"}).has_value());
  EXPECT_FALSE(Read({"--bogus"}).has_value());
}

TEST(BenchOptionsTest, AWorkerMeasuresTheSame) {
  const auto words =
      Read({"-n", "3",    "-b",      "1K",     "-e",      "4K",  "-f", "4", "-d", "half",
            "-o", "prod", "--check", "--json", "--links", "tcp", "-w", "2", "-i", "7"})
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
  EXPECT_EQ(options.measure.warmup, 2u);
  EXPECT_EQ(options.measure.iterations, 7u);
}

}  // namespace
}  // namespace ringlet::cli
