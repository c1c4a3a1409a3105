// Workers are the tool itself, so runs of ranks are in test/integration.
#include "frontends/cli/bench_run.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

TEST(BenchRunTest, LinksOfTheCommandLineGoBeforeThoseOfTheEnvironment) {
  BenchWords words;
  words.links = "tcp";
  const auto job = PrepareBench(words);
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->environment.at("RINGLET_LINKS"), "tcp");
}

TEST(BenchRunTest, TheEndOfACommandIsThatOfTheRun) {
  const auto signals = TakeSignals();
  ASSERT_TRUE(signals.ok());
  std::vector<std::string> lines;
  CrewOptions crew;
  crew.commands = {{{"/bin/sh", "-c", "echo hello; exit 3"}, {}}};
  crew.on_line = [&](Rank, Stream, std::string_view line) { lines.emplace_back(line); };
  testing::internal::CaptureStderr();
  const auto ended = RunBenchCrew(**signals, std::move(crew), "peer");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("peer 0 exited with"));
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->status, 3);
  EXPECT_FALSE(ended->by_user);
  EXPECT_THAT(lines, testing::ElementsAre("hello"));
}

}  // namespace
}  // namespace ringlet::cli
