#include "comm/service/long_wait.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ringlet::comm {
namespace {

TEST(LongWait, RunsOnlyTheInnermostCheckOfItsThread) {
  EXPECT_FALSE(LongWait::Look()) << "there is none";
  int outer = 0, inner = 0;
  const LongWait first([&] { return ++outer > 0; });
  {
    const LongWait second([&] {
      EXPECT_TRUE(LongWait::IsLooking());
      EXPECT_FALSE(LongWait::Look()) << "it is not asked from inside itself";
      return ++inner > 1;
    });
    EXPECT_FALSE(LongWait::Look());
    EXPECT_TRUE(LongWait::Look());
  }
  EXPECT_FALSE(LongWait::IsLooking());
  EXPECT_TRUE(LongWait::Look());
  std::thread([] { EXPECT_FALSE(LongWait::Look()); }).join();
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 2);
}

TEST(LongWait, AWaitEndsWhenItsCheckRequestsIt) {
  std::mutex mutex;
  std::condition_variable news;
  std::unique_lock lock(mutex);
  EXPECT_TRUE(LongWait::Wait(news, lock, [] { return true; })) << "without one, as any wait";
  int looks = 0;
  bool ready = false;
  const LongWait patient([&] {
    const std::lock_guard held(mutex);
    return ++looks == 2;
  });
  EXPECT_FALSE(LongWait::Wait(news, lock, [&] { return ready; }));
  EXPECT_EQ(looks, 2);
  ready = true;
  EXPECT_TRUE(LongWait::Wait(news, lock, [&] { return ready; }));
}

}  // namespace
}  // namespace ringlet::comm
