#include "os/process/signals.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "os/net/poll.hpp"

namespace ringlet::os {
namespace {

TEST(SignalQueueTest, ASignalWaitsInTheQueue) {
  const auto queue = SignalQueue::Open({SIGUSR1, SIGTERM}).value();
  EXPECT_EQ(queue->Next(), std::nullopt);
  ::kill(::getpid(), SIGTERM);
  const std::array descriptors{queue->fd().get()};
  PollReadable(descriptors, std::chrono::seconds(60));
  EXPECT_EQ(queue->Next(), SIGTERM);
  EXPECT_EQ(queue->Next(), std::nullopt);
}

TEST(SignalQueueTest, RestoresTheSignalMask) {
  sigset_t mask;
  {
    const auto queue = SignalQueue::Open({SIGUSR1}).value();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGUSR1), 1);
  }
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGUSR1), 0);
}

TEST(SignalQueueTest, KeepsIgnoringAHangUpUnderNohup) {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  {
    const auto queue = SignalQueue::Open({SIGHUP, SIGUSR1}).value();
    ::kill(::getpid(), SIGHUP);
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(queue->Next(), SIGUSR1);
    EXPECT_EQ(queue->Next(), std::nullopt);
  }
  ::signal(SIGHUP, before);
}

TEST(SignalNameTest, MapsNamesAndNumbers) {
  EXPECT_EQ(SignalName(SIGINT), "SIGINT");
  EXPECT_EQ(SignalName(99), "signal 99");
}

}  // namespace
}  // namespace ringlet::os
