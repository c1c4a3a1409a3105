// Tests of hosts and settings. Runs of ranks are in bench_test.cpp and test/integration.
#include "tool/bench/bench_run.hpp"

#include <gmock/gmock.h>

#include "os/process/limits.hpp"

namespace ringlet::cli {
namespace {

TEST(BenchRunTest, LinksOfTheCommandLineOverrideTheEnvironment) {
  BenchWords words;
  words.links = "tcp";
  const auto job = PrepareBench(words);
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->environment.at("RINGLET_LINKS"), "tcp");
}

TEST(BenchRunTest, TheCommandReturnsTheStatusOfTheRun) {
  const auto signals = TakeSignals();
  ASSERT_TRUE(signals.ok());
  std::vector<std::string> lines;
  LauncherOptions launcher;
  launcher.commands = {{{"/bin/sh", "-c", "echo hello; exit 3"}, {}}};
  launcher.on_line = [&](Rank, Stream, std::string_view line) { lines.emplace_back(line); };
  testing::internal::CaptureStderr();
  const auto ended = LaunchBenchRanks(**signals, std::move(launcher), "peer");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("peer 0 exited with"));
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->status, 3);
  EXPECT_FALSE(ended->by_user);
  EXPECT_THAT(lines, testing::ElementsAre("hello"));
}

/// Returns the wait setting (RINGLET_WAIT) that `ranks` ranks on two hosts receive; empty if it is
/// unset. Null if hosts cannot be created.
std::optional<std::string> ToldToWait(std::uint32_t ranks, const EnvMap& user) {
  BenchJob job;
  job.options.ranks = ranks;
  job.options.net = {.hosts = 2};
  job.environment = user;
  if (!MakeHosts(job).ok()) return std::nullopt;
  const auto found = job.environment.find("RINGLET_WAIT");
  return found == job.environment.end() ? "" : found->second;
}

TEST(BenchRunTest, RanksThatShareCoresYieldWhileTheyWait) {
  const auto cpus = static_cast<std::uint32_t>(os::UsableCpus().size());
  const auto many = ToldToWait(cpus + 1, {});
  if (!many) GTEST_SKIP() << "network namespaces cannot be made here";
  EXPECT_EQ(*many, "yield");
  EXPECT_EQ(ToldToWait(cpus, {}), "") << "each has a core";
  EXPECT_EQ(ToldToWait(cpus + 1, {{"RINGLET_WAIT", "sleep"}}), "sleep") << "the user's word";
}

}  // namespace
}  // namespace ringlet::cli
