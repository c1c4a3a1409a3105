#include "os/process/remote_fence.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ringlet::os {
namespace {

TEST(RemoteFence, JoiningIsIdempotent) {
  const bool joined = JoinRemoteFences();
  EXPECT_EQ(JoinRemoteFences(), joined);
  EXPECT_EQ(RemoteFence(), joined);
}

// Two threads each store, and then load the other's store. With only a remote fence on one side, at
// least one of them sees the other's store.
TEST(RemoteFence, OrdersBothThreadsFromASingleSide) {
  if (!JoinRemoteFences()) return;  // then each thread fences for itself
  constexpr int kRounds = 20'000;
  std::atomic<int> often{0}, seldom{0}, round{0}, arrived{0};
  int missed = 0;
  std::atomic<int> often_saw{0};
  std::jthread maker([&] {
    for (int i = 1; i <= kRounds; ++i) {
      while (round.load() != i) std::this_thread::yield();
      often.store(i, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      often_saw.store(seldom.load(std::memory_order_relaxed), std::memory_order_relaxed);
      arrived.store(i);
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    round.store(i);
    seldom.store(i, std::memory_order_relaxed);
    ASSERT_TRUE(RemoteFence());
    const bool saw = often.load(std::memory_order_relaxed) == i;
    while (arrived.load() != i) std::this_thread::yield();
    missed += !saw && often_saw.load() != i;
  }
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace ringlet::os
