#include "programs/foreground.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "os/process/env.hpp"

namespace ringlet::os {
namespace {

using testing::HasSubstr;

ChildExit RunScript(const std::string& script, EnvMap environment = ReadEnvironment()) {
  return RunInForeground({"sh", "-c", script}, environment).value();
}

TEST(ForegroundTest, ReportsTheExitOfTheProgram) {
  EXPECT_TRUE(RunScript("exit 0").ok());
  EXPECT_EQ(RunScript("exit 7"), (ChildExit{.status = 7}));
  EXPECT_EQ(RunScript("kill -9 $$"), (ChildExit{.signal = SIGKILL}));
}

TEST(ForegroundTest, RunsTheProgramInItsEnvironmentAndOurProcessGroup) {
  EnvMap environment = ReadEnvironment();
  environment["RINGLET_TEST_WORD"] = "here";
  EXPECT_TRUE(RunScript("[ \"$RINGLET_TEST_WORD\" = here ]", environment).ok());
  EXPECT_TRUE(RunScript("[ $(ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat) = " +
                        std::to_string(getpgrp()) + " ]")
                  .ok());
}

TEST(ForegroundTest, NamesAProgramThatCannotRun) {
  const auto ran = RunInForeground({"/nowhere/ringlet-no-such"}, {});
  ASSERT_FALSE(ran.ok());
  EXPECT_THAT(ran.error().message, HasSubstr("/nowhere/ringlet-no-such"));
  EXPECT_THAT(BecomeProgram({"/nowhere/ringlet-no-such"}, {}).message,
              HasSubstr("/nowhere/ringlet-no-such"));
}

TEST(ForegroundTest, ForwardsSignalsToTheProgram) {
  // The script requests the signal only when it is ready, and waits for at most 10 s.
  const std::string wait = "for i in $(seq 1000); do sleep 0.01; done";
  EXPECT_EQ(RunScript("trap 'exit 5' TERM; kill -TERM $PPID; " + wait), (ChildExit{.status = 5}));
  EXPECT_EQ(RunScript("trap 'exit 6' USR1; kill -USR1 $PPID; " + wait), (ChildExit{.status = 6}));
}

TEST(ForegroundTest, TheProgramStartsUnblockedAndTheMaskIsRestored) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  EXPECT_TRUE(RunScript("grep -q '^SigBlk:.*0000$' /proc/self/status").ok());
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
  EXPECT_EQ(sigismember(&after, SIGCHLD), 0);
}

// Runs `body` in a process of its own and returns its outcome.
template <typename Body>
int StatusOf(Body&& body) {
  const int child = fork();
  if (child == 0) {
    body();
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(ForegroundTest, EndsTheProcessLikeTheProgram) {
  const int exited = StatusOf([] { ExitLike({.status = 3}); });
  EXPECT_TRUE(WIFEXITED(exited));
  EXPECT_EQ(WEXITSTATUS(exited), 3);
  const int killed = StatusOf([] { ExitLike({.signal = SIGTERM}); });
  EXPECT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(WTERMSIG(killed), SIGTERM);
  const int harmless = StatusOf([] { ExitLike({.signal = SIGURG}); });
  EXPECT_TRUE(WIFEXITED(harmless));
  EXPECT_EQ(WEXITSTATUS(harmless), 128 + SIGURG);
}

TEST(ForegroundTest, TheProgramEndsWithThisProcess) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const int child = fork();
  if (child == 0) {
    close(ends[0]);
    // The program has the writing end, and kills this process.
    static_cast<void>(
        RunInForeground({"sh", "-c", "kill -9 $PPID; exec sleep 60"}, ReadEnvironment()));
    _exit(0);
  }
  close(ends[1]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  char nothing = 0;
  EXPECT_EQ(read(ends[0], &nothing, 1), 0);  // the end of all writers
  close(ends[0]);
}

}  // namespace
}  // namespace ringlet::os
