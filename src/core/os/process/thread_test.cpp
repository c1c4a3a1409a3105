#include "os/process/thread.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace ringlet::os {
namespace {

TEST(Thread, AFailedStartReturnsAnError) {
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 46), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0) << "no address space has room for that";
  auto none = StartThread("for a test", [](const std::stop_token&) {});
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  pthread_attr_destroy(&before);
  pthread_attr_destroy(&huge);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kSystem);
  EXPECT_NE(none.error().message.find("cannot start a thread for a test"), std::string::npos);
  EXPECT_NE(none.error().message.find("ulimit -u"), std::string::npos);
  bool ran = false;
  auto one = StartThread("for a test", [&](const std::stop_token&) { ran = true; });
  ASSERT_TRUE(one.ok());
  one->join();
  EXPECT_TRUE(ran);
}

TEST(Thread, BlocksSignalsExceptItsOwnFaults) {
  std::thread([] {
    BecomeServiceThread("ringlet service thread");
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    EXPECT_EQ(sigismember(&blocked, SIGCHLD), 1);
    EXPECT_EQ(sigismember(&blocked, SIGSEGV), 0);
    char name[32] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    EXPECT_STREQ(name, "ringlet service");
  }).join();
  sigset_t ours;
  pthread_sigmask(SIG_BLOCK, nullptr, &ours);
  EXPECT_EQ(sigismember(&ours, SIGTERM), 0);
}

cpu_set_t Affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

std::uint32_t LastCpuOf(const cpu_set_t& set) {
  std::uint32_t last = 0;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) last = cpu;
  return last;
}

TEST(Thread, RunOnAffectsOnlyTheCallingThread) {
  const cpu_set_t before = Affinity();
  const std::uint32_t cpu = LastCpuOf(before);
  std::thread([&] {
    const CpuRange one{cpu, cpu};
    ASSERT_TRUE(RunOn({&one, 1}).ok());
    const cpu_set_t now = Affinity();
    EXPECT_EQ(CPU_COUNT(&now), 1);
    EXPECT_TRUE(CPU_ISSET(cpu, &now));
  }).join();
  const cpu_set_t after = Affinity();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Thread, RefusesMissingCpusWithoutAChange) {
  std::thread([] {
    const cpu_set_t before = Affinity();
    const CpuRange none{60'000, 60'001};
    EXPECT_EQ(RunOn({&none, 1}).error().code, Code::kSystem);
    EXPECT_EQ(RunOn({}).error().code, Code::kInvalidArgument);
    const cpu_set_t after = Affinity();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }).join();
}

int MemoryPolicy() {
  int mode = -1;
  syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0);
  return mode;
}

// Returns true if the kernel lets this thread set a policy.
bool PolicyIsOurs() {
  const unsigned long first = 1;
  if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, &first, 8 * sizeof first) != 0) return false;
  return syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) == 0;
}

TEST(Thread, MemoryNearRestoresThePolicyAtItsEnd) {
  const bool possible = PolicyIsOurs();
  const int before = MemoryPolicy();
  {
    const MemoryNear near(0);
    EXPECT_EQ(near.in_force(), possible);
    EXPECT_EQ(MemoryPolicy(), possible ? MPOL_PREFERRED : before);
    const MemoryNear nowhere(MemoryNear::kNodesMax);
    EXPECT_FALSE(nowhere.in_force());
  }
  EXPECT_EQ(MemoryPolicy(), before);
}

}  // namespace
}  // namespace ringlet::os
