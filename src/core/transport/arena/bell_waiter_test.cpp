#include "transport/arena/bell_waiter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ringlet::transport {
namespace {

constexpr std::chrono::hours kForever(1);

TEST(BellWaiter, DoesNotSleepIfItWasRungSincePrepare) {
  DoorbellWord word;
  BellWaiter waiter(word);
  const auto ticket = waiter.Prepare();
  waiter.Wake();
  waiter.Wait(ticket, kForever);
  EXPECT_EQ(word.value, 0u) << "awake again: ringing costs nothing";
}

TEST(BellWaiter, IsWokenByAnotherThread) {
  DoorbellWord word;
  BellWaiter waiter(word);
  for (int i = 0; i < 100; ++i) {
    const auto ticket = waiter.Prepare();
    std::thread ringer([&] { waiter.Wake(); });
    waiter.Wait(ticket, kForever);
    ringer.join();
  }
}

TEST(BellWaiter, SleepsUntilItIsRung) {
  DoorbellWord word;
  std::atomic<bool> back = false;
  std::thread sleeper([&] {
    BellWaiter waiter(word);
    waiter.Wait(waiter.Prepare(), kForever);
    back = true;
  });
  constexpr std::uint32_t kState = 3;
  while ((word.value & kState) != static_cast<std::uint32_t>(Doorbell::Sleep::kFutex) && !back)
    std::this_thread::yield();
  EXPECT_FALSE(back) << "nobody has rung";
  BellWaiter(word).Wake();
  sleeper.join();
}

TEST(BellWaiter, SleepsAtMostItsTimeout) {
  DoorbellWord word;
  BellWaiter waiter(word);
  waiter.Wait(waiter.Prepare(), std::chrono::milliseconds(1));
  EXPECT_EQ(word.value, 0u);
}

TEST(BellWaiter, HasNoDescriptor) {
  DoorbellWord word;
  EXPECT_EQ(BellWaiter(word).descriptor(), -1);
}

}  // namespace
}  // namespace ringlet::transport
