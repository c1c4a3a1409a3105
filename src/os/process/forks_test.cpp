#include "os/process/forks.hpp"

#include <gtest/gtest.h>
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

/// The answer of `check` in a child that `make` makes; false also where there was none.
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

TEST(Forks, StayTheSameInAProcess) {
  const std::uint64_t here = ForkGeneration();
  std::vector<std::uint64_t> seen(8);
  std::vector<std::thread> threads;
  for (std::uint64_t& one : seen) threads.emplace_back([&] { one = ForkGeneration(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t one : seen) EXPECT_EQ(one, here);
}

TEST(Forks, AChildAndItsChildHaveNumbersOfTheirOwn) {
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

// No handler of the C library is called for it.
TEST(Forks, AChildOfABareSystemCallIsSeen) {
  const std::uint64_t here = ForkGeneration();
  EXPECT_TRUE(InChild([] { return ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0); },
                      [&] { return ForkGeneration() != here; }));
}

/// Counts the processes from which it was forked, and has a lock that a thread may hold in a fork.
struct Lineage {
  explicit Lineage(const Lineage* parent) : forks(parent ? parent->forks + 1 : 0) {}
  const int forks;
  std::mutex mutex;
};

TEST(PerProcess, IsMadeAnewInAChildEvenIfItIsLocked) {
  static PerProcess<Lineage> lineages;
  EXPECT_EQ(&lineages.Here(), &lineages.Here());
  EXPECT_EQ(lineages.Here().forks, 0);
  const std::lock_guard lock(lineages.Here().mutex);
  EXPECT_TRUE(
      InChild(Fork, [] { return lineages.Here().forks == 1 && lineages.Here().mutex.try_lock(); }));
}

}  // namespace
}  // namespace ringlet::os
