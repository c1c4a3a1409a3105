#include "tool/run/launcher.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "os/process/env.hpp"

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Runs each script as a rank and stores its output.
class LauncherTest : public testing::Test {
 protected:
  Result<LauncherOutcome> Run(const std::vector<std::string>& scripts,
                              Instant grace = std::chrono::minutes(1)) {
    LauncherOptions options;
    options.grace = grace;
    for (const std::string& script : scripts)
      options.commands.push_back({{"sh", "-c", script}, os::ReadEnvironment()});
    options.on_line = [this](Rank rank, Stream stream, std::string_view line) {
      lines_.push_back(std::to_string(Index(rank)) + (stream == Stream::kErrors ? "!" : ":") +
                       std::string(line));
      if (on_line_) on_line_(lines_.back());
    };
    options.on_failure = [this](const RankEnd& end) {
      lines_.push_back("rank " + std::to_string(Index(end.rank)) + " " + ToString(end.how));
    };
    options.on_second = on_second_;
    return LaunchRanks(*signals_, options);
  }

  std::unique_ptr<os::SignalQueue> signals_ = TakeSignals().value();
  std::vector<std::string> lines_;
  std::function<void(const std::string&)> on_line_;
  std::function<void(Instant)> on_second_;
};

TEST_F(LauncherTest, BothStreamsOfAllRanksArrive) {
  const auto outcome = Run({"echo a; echo b >&2; printf c", "echo d"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->ExitStatus(), 0);
  EXPECT_THAT(lines_, UnorderedElementsAre("0:a", "0!b", "0:c", "1:d"));
}

TEST_F(LauncherTest, LongOutputArrivesCompletely) {
  ASSERT_TRUE(Run({"seq 1 50000", "seq 1 50000"}).ok());
  EXPECT_EQ(lines_.size(), 100'000u);
  EXPECT_EQ(std::ranges::count(lines_, "1:50000"), 1);
}

TEST_F(LauncherTest, AFailureEndsTheOtherRanks) {
  const auto outcome = Run({"kill -STOP $$", "echo last; exit 3"}, Instant(0));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->first_failure->rank, Rank{1});
  EXPECT_EQ(outcome->ExitStatus(), 3);
  EXPECT_THAT(lines_, ElementsAre("1:last", "rank 1 exited with status 3"));
}

TEST_F(LauncherTest, NamesTheSignalThatKilledARank) {
  const auto outcome = Run({"kill -STOP $$", "kill -KILL $$"}, Instant(0));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->ExitStatus(), 128 + SIGKILL);
  EXPECT_THAT(lines_, ElementsAre("rank 1 was killed by signal 9 (SIGKILL)"));
}

// Ignores SIGINT, as in a program that a shell started in the background.
class IgnoredInterrupt {
 public:
  IgnoredInterrupt() : before_(::signal(SIGINT, SIG_IGN)) {}
  IgnoredInterrupt(const IgnoredInterrupt&) = delete;
  IgnoredInterrupt& operator=(const IgnoredInterrupt&) = delete;
  ~IgnoredInterrupt() { ::signal(SIGINT, before_); }

 private:
  void (*before_)(int);
};

TEST_F(LauncherTest, ASignalOfTheUserReachesAllRanks) {
  const IgnoredInterrupt ignored;
  int ready = 0;
  on_line_ = [&](const std::string& line) {
    if (line.ends_with("ready") && ++ready == 2) ::kill(::getpid(), SIGINT);
  };
  const std::string script = "trap 'echo got INT; exit 0' INT; sleep 3600 & echo ready; wait";
  const auto outcome = Run({script, script});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->ExitStatus(), 128 + SIGINT);
  EXPECT_THAT(lines_, UnorderedElementsAre("0:ready", "1:ready", "0:got INT", "1:got INT"));
}

/// A FIFO for a script that waits for a line with `read answer <PATH`.
class Fifo {
 public:
  explicit Fifo(const std::string& name)
      : path_(testing::TempDir() + "ringlet_crew_test." + name + std::to_string(::getpid())) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    end_ = os::Fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_TRUE(end_.valid());
  }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;
  ~Fifo() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }
  void Answer() { EXPECT_EQ(::write(end_.get(), "\n", 1), 1); }

 private:
  std::string path_;
  os::Fd end_;
};

// A launcher that polls once a second would need a second for each line.
TEST_F(LauncherTest, DeliversALineWhenItIsWritten) {
  constexpr int kLines = 20;
  Fifo to_rank("line");
  on_line_ = [&](const std::string&) { to_rank.Answer(); };
  int seconds_heard = 0;
  on_second_ = [&](Instant) { ++seconds_heard; };
  const auto outcome = Run({"exec <" + to_rank.path() + "; for i in $(seq " +
                            std::to_string(kLines) + "); do echo $i; read answer; done"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->ExitStatus(), 0);
  EXPECT_EQ(lines_.size(), std::size_t{kLines});
  EXPECT_LT(seconds_heard, kLines - 2);
}

// The remaining rank ends after two calls of on_second, long before its grace is over.
TEST_F(LauncherTest, TicksContinueDuringTheGracePeriod) {
  Fifo to_first("fail"), to_second("second");
  on_line_ = [&](const std::string& line) {
    if (line == "1:ready") to_first.Answer();
  };
  int seconds_heard = 0;  // calls during its grace
  on_second_ = [&](Instant) {
    seconds_heard += !lines_.empty() && lines_.back().starts_with("rank 0");
    if (seconds_heard == 2) to_second.Answer();
  };
  const auto outcome =
      Run({"read answer <" + to_first.path() + "; exit 3",
           "trap '' TERM; echo ready; read answer <" + to_second.path() + "; echo released"},
          std::chrono::seconds(20));
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(lines_, ElementsAre("1:ready", "rank 0 exited with status 3", "1:released"));
}

TEST_F(LauncherTest, AFailedStartEndsTheStartedRanks) {
  LauncherOptions options;
  options.commands = {{{"sh", "-c", "kill -STOP $$"}, {}}, {{"/nowhere/ringlet-no-such"}, {}}};
  const auto outcome = LaunchRanks(*signals_, options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, testing::HasSubstr("/nowhere/ringlet-no-such"));
}

}  // namespace
}  // namespace ringlet::cli
