#include "frontends/cli/peer_program.hpp"

#include <gmock/gmock.h>

#include "os/limits.hpp"

namespace ringlet::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

BenchJob Job() {
  BenchOptions options;
  options.ranks = 3;
  options.measure = {.kind = CallKind::kReduce,
                     .placement = Placement::kInPlace,
                     .root = Rank{2},
                     .bound = false,
                     .counts = {2, 64},
                     .iterations = 9};
  return {.words = {}, .options = options, .environment = {{"PATH", "/x"}}};
}

TEST(PeerProgramTest, APeerIsAskedForTheSame) {
  EXPECT_THAT(PeerBenchCommands("gloo", Job(), "/bin").at(0).arguments,
              ElementsAre("/bin/ringlet_bench_gloo", "3", "reduce", "float", "sum", "2", "in",
                          "adapted", "9", "2", "64"));
  const auto command = PeerBenchCommands("mpich", Job(), "/bin").at(0);
  EXPECT_THAT(command.arguments,
              ElementsAre("mpirun.mpich", "-bind-to", "none", "-n", "3", "/bin/ringlet_bench_mpich",
                          "reduce", "float", "sum", "2", "in", "adapted", "9", "2", "64"));
  EXPECT_EQ(command.environment.at("PATH"), "/x");
}

TEST(PeerProgramTest, APeerChangesItsInputToo) {
  BenchJob job = Job();
  job.options.measure.changing = true;
  EXPECT_THAT(PeerBenchCommands("openmpi", job, "/bin").at(0).arguments, Contains("in,changing"));
}

TEST(PeerProgramTest, WhereRanksTakeTurnsAPeerMeasuresAsLongIterationsAsWe) {
  BenchJob job = Job();
  job.options.measure.iterations.reset();
  job.options.ranks = 1;
  EXPECT_THAT(PeerBenchCommands("gloo", job, "/bin").at(0).arguments, Contains("adapted:3"));
  job.options.ranks = os::UsableCores() + 1;
  EXPECT_THAT(PeerBenchCommands("gloo", job, "/bin").at(0).arguments, Contains("adapted:500"));
}

TEST(PeerProgramTest, AMissingProgramIsNamedWithItsPackage) {
  const Status status = CheckPeer("openmpi", "/nowhere", 1);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("/nowhere/ringlet_bench_openmpi"));
  EXPECT_THAT(status.error().message, HasSubstr("libopenmpi-dev"));
  EXPECT_THAT(CheckPeer("mpich", "/nowhere", 2).error().message, HasSubstr("namespaces"));
}

TEST(PeerProgramTest, OnlyLinesOfFourNumbersAreResults) {
  const auto line = ParsePeerLine("64 1.5 2.25 3");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->count, 64u);
  EXPECT_EQ(line->measured, (Measurement{.time_us = 1.5, .p99_us = 2.25, .cpu_us = 3}));
  for (const char* other : {"", "64 1.5 2.25", "64 1.5 2.25 3 4", "x 1 2 3", "64 1.5 2.25 -3",
                            "64 nan 2 3", "64 1. 2 3x"})
    EXPECT_FALSE(ParsePeerLine(other).has_value()) << other;
}

}  // namespace
}  // namespace ringlet::cli
