#include "collective/shm/post_waiter.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ringlet::collective {
namespace {

constexpr std::chrono::hours kHours(1);

/// Three ranks, the first of which waits.
class PostWaiterTest : public testing::Test {
 protected:
  PostWaiterTest()
      : arena_(transport::Arena::Create({.ranks = 3, .slot_bytes = 4096, .stage_bytes = 4096})
                   .value()),
        waiter_(arena_->rank(0), awaited_) {}

  bool Rung() const { return (arena_->rank(0).bell.value & 3u) == 0; }

  std::shared_ptr<transport::Arena> arena_;
  std::uint32_t awaited_ = 2;
  PostWaiter waiter_;
};

TEST_F(PostWaiterTest, APostThatIsNotAwaitedLetsItSleep) {
  const auto ticket = waiter_.Prepare();
  arena_->RingForPost(1);
  EXPECT_FALSE(Rung());
  arena_->RingForPost(2);
  ASSERT_TRUE(Rung());
  waiter_.Wait(ticket, kHours);
}

TEST_F(PostWaiterTest, OtherNewsWakeIt) {
  const auto ticket = waiter_.Prepare();
  arena_->RingOthers(1);
  ASSERT_TRUE(Rung());
  waiter_.Wait(ticket, kHours);
}

TEST_F(PostWaiterTest, ARankThatWaitsForAnotherPostThanItSaidLooksAgain) {
  const auto ticket = waiter_.Prepare();
  awaited_ = 1;
  waiter_.Wait(ticket, kHours);  // returns at once: rank 1 may have posted in between
  waiter_.Prepare();
  arena_->RingForPost(2);
  EXPECT_FALSE(Rung());
  arena_->RingForPost(1);
  ASSERT_TRUE(Rung());
}

TEST_F(PostWaiterTest, IsWokenByThePostOfAnotherThread) {
  for (int i = 0; i < 100; ++i) {
    const auto ticket = waiter_.Prepare();
    std::thread poster([&] { arena_->RingForPost(2); });
    waiter_.Wait(ticket, kHours);
    poster.join();
  }
}

}  // namespace
}  // namespace ringlet::collective
