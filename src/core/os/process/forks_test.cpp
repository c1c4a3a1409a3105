#include "os/process/forks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace ringlet::os {
namespace {

/// The result of `check` in a child that `make` makes. False also if `make` fails.
bool InChild(const std::function<long()>& make, const std::function<bool()>& check) {
  const auto child = static_cast<pid_t>(make());
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

long Fork() {
  return ::fork();
}

TEST(Forks, GenerationIsConstantInAProcess) {
  const std::uint64_t here = ForkGeneration();
  std::vector<std::uint64_t> seen(8);
  std::vector<std::thread> threads;
  for (std::uint64_t& one : seen) threads.emplace_back([&] { one = ForkGeneration(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t one : seen) EXPECT_EQ(one, here);
}

TEST(Forks, AChildAndItsChildHaveTheirOwnGenerations) {
  const std::uint64_t here = ForkGeneration();
  EXPECT_TRUE(InChild(Fork, [&] {
    const std::uint64_t child = ForkGeneration();
    return child != here && child == ForkGeneration() && InChild(Fork, [&] {
             const std::set<std::uint64_t> all = {here, child, ForkGeneration()};
             return all.size() == 3;
           });
  }));
  EXPECT_EQ(ForkGeneration(), here);
}

// The C library does not call its fork handlers for this call.
TEST(Forks, AChildOfADirectSystemCallIsDetected) {
  const std::uint64_t here = ForkGeneration();
  EXPECT_TRUE(InChild([] { return ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0); },
                      [&] { return ForkGeneration() != here; }));
}

/// Counts the forks before it, and has a lock that a thread may hold during a fork.
struct Lineage {
  explicit Lineage(const Lineage* parent) : forks(parent ? parent->forks + 1 : 0) {}
  const int forks;
  std::mutex mutex;
};

TEST(PerProcess, IsRecreatedInAChildEvenIfItIsLocked) {
  static PerProcess<Lineage> lineages;
  EXPECT_EQ(&lineages.Here(), &lineages.Here());
  EXPECT_EQ(lineages.Here().forks, 0);
  const std::lock_guard lock(lineages.Here().mutex);
  EXPECT_TRUE(
      InChild(Fork, [] { return lineages.Here().forks == 1 && lineages.Here().mutex.try_lock(); }));
}

/// Forks a child that lives until all copies of `stop` are closed. Returns when the child runs.
pid_t ForkChildThatStays(int stop) {
  int runs[2];
  EXPECT_EQ(::pipe(runs), 0);
  const pid_t child = ::fork();
  char word = 'r';
  if (child == 0) {
    if (::write(runs[1], &word, 1) == 1) ::read(stop, &word, 1);
    ::_exit(0);
  }
  EXPECT_EQ(::read(runs[0], &word, 1), 1);
  ::close(runs[0]);
  ::close(runs[1]);
  return child;
}

TEST(Forks, ASocketHiddenFromChildrenClosesWithItsProcess) {
  int plain[2], ends[2], stop[2];
  ASSERT_EQ(::pipe(stop), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, plain), 0);
  Fd opened = OpenForThisProcess([&] {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    return ends[0];
  });
  int others[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, others), 0);
  Fd known(others[0]);
  CloseInChildren(known.get());
  const pid_t child = ForkChildThatStays(stop[0]);
  opened.Close();
  known.Close();
  ::close(plain[0]);
  char word = 0;
  EXPECT_EQ(::recv(ends[1], &word, 1, MSG_DONTWAIT), 0) << "the connection has not ended";
  EXPECT_EQ(::recv(others[1], &word, 1, MSG_DONTWAIT), 0) << "the connection has not ended";
  EXPECT_EQ(::recv(plain[1], &word, 1, MSG_DONTWAIT), -1) << "the child lives and keeps this one";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const int fd : {ends[1], others[1], plain[1], stop[0], stop[1]}) ::close(fd);
}

TEST(Forks, AChildKeepsTheDescriptorNumberAndReusedSockets) {
  int ends[2];
  Fd opened = OpenForThisProcess([&] {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    return ends[0];
  });
  struct stat status {};
  EXPECT_TRUE(InChild(Fork, [&] {
    return ::fstat(opened.get(), &status) == 0 && !S_ISSOCK(status.st_mode) &&
           ::fcntl(opened.get(), F_GETFD) == FD_CLOEXEC;
  }));
  // The descriptor number is reused for another socket.
  const int number = opened.get();
  ASSERT_EQ(::dup2(ends[1], number), number);
  EXPECT_TRUE(
      InChild(Fork, [&] { return ::fstat(number, &status) == 0 && S_ISSOCK(status.st_mode); }));
  ::close(ends[1]);
}

}  // namespace
}  // namespace ringlet::os
