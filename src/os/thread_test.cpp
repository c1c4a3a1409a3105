#include "os/thread.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <thread>

namespace ringlet::os {
namespace {

TEST(Thread, LeavesSignalsToTheProgramButNotItsOwnFaults) {
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

}  // namespace
}  // namespace ringlet::os
