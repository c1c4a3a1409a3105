#include "programs/child.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/net/poll.hpp"
#include "os/process/env.hpp"

namespace ringlet::os {
namespace {

using testing::HasSubstr;

// Exceeds the time of a slow machine.
constexpr std::chrono::seconds kTimeout(60);

Child Shell(const std::string& script, EnvMap environment = ReadEnvironment()) {
  return Child::Start({{"sh", "-c", script}, std::move(environment)}).value();
}

// Reads until the end of the stream.
std::string ReadAll(const Fd& from) {
  std::string all;
  for (;;) {
    const std::array descriptors{from.get()};
    PollReadable(descriptors, kTimeout);
    const Arrived arrived = ReadAvailable(from, 4096);
    all += arrived.bytes;
    if (arrived.end) return all;
  }
}

ChildExit Wait(Child& child) {
  for (;;)
    if (const auto ended = child.Poll()) return *ended;
}

TEST(ChildTest, ReportsOutputErrorsAndStatus) {
  Child child = Shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(ReadAll(child.output()), "out\n");
  EXPECT_EQ(ReadAll(child.errors()), "err\n");
  EXPECT_EQ(Wait(child), (ChildExit{.status = 3}));
  EXPECT_EQ(child.Poll(), (ChildExit{.status = 3}));
}

TEST(ChildTest, RunsWithTheGivenEnvironment) {
  Child child = Shell("echo $RINGLET_TEST_WORD-$HOME-", {{"RINGLET_TEST_WORD", "a b"}});
  EXPECT_EQ(ReadAll(child.output()), "a b--\n");
}

TEST(ChildTest, StandardInputIsEmpty) {
  Child child = Shell("cat; echo end");
  EXPECT_EQ(ReadAll(child.output()), "end\n");
}

TEST(ChildTest, NamesAProgramThatDoesNotExist) {
  const auto child = Child::Start({{"/nowhere/ringlet-no-such"}, {}});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().code, Code::kSystem);
  EXPECT_EQ(child.error().os_errno, ENOENT);
  EXPECT_THAT(child.error().message, HasSubstr("/nowhere/ringlet-no-such"));
}

TEST(ChildTest, ASignalReachesTheChildAndItsChildren) {
  // The inner shell holds the output as well: the stream ends only after both.
  Child child = Shell("sh -c 'echo ready; kill -STOP $$' & wait");
  const std::array descriptors{child.output().get()};
  PollReadable(descriptors, kTimeout);
  EXPECT_FALSE(child.Poll().has_value());
  child.Signal(SIGKILL);
  EXPECT_EQ(ReadAll(child.output()), "ready\n");
  EXPECT_EQ(Wait(child), (ChildExit{.signal = SIGKILL}));
}

TEST(ChildTest, KillsProcessesThatAnEndedChildLeavesBehind) {
  // The grandchild inherits the output, so its end shows that the grandchild has ended too.
  Child child = Shell("sh -c 'kill -STOP $$' & echo started");
  EXPECT_EQ(Wait(child), (ChildExit{.status = 0}));
  EXPECT_EQ(ReadAll(child.output()), "started\n");
}

TEST(ChildTest, TheDestructorKillsTheChild) {
  int pid = 0;
  {
    Child child = Shell("kill -STOP $$");
    pid = child.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ChildTest, TheChildDoesNotInheritBlockedSignals) {
  sigset_t set, before;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  Child child = Shell("kill -TERM $$; echo survived");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(ReadAll(child.output()), "");
  EXPECT_EQ(Wait(child), (ChildExit{.signal = SIGTERM}));
}

TEST(ChildTest, ReadsAvailableOutputToTheLastByte) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const Fd from(ends[0]);
  Fd to(ends[1]);
  EXPECT_FALSE(ReadAvailable(from, 10).end) << "nothing yet";
  ASSERT_EQ(::write(to.get(), "abc", 3), 3);
  EXPECT_EQ(ReadAvailable(from, 2).bytes, "ab");
  EXPECT_EQ(ReadAvailable(from, 2).bytes, "c");
  to.Close();
  EXPECT_TRUE(ReadAvailable(from, 2).end);
}

TEST(ChildTest, DescribesTheExitInWords) {
  EXPECT_EQ(ToString(ChildExit{.status = 3}), "exited with status 3");
  EXPECT_EQ(ToString(ChildExit{.signal = SIGKILL}), "was killed by signal 9 (SIGKILL)");
}

}  // namespace
}  // namespace ringlet::os
