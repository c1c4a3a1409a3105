#include "collective/shm/post_waiter.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ringlet::collective {
namespace {

constexpr std::chrono::hours kHours(1);

/// Three ranks; the first one waits.
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

TEST_F(PostWaiterTest, AnUnawaitedPostDoesNotWakeTheRank) {
  const auto ticket = waiter_.Prepare();
  arena_->RingAwaiting(1);
  EXPECT_FALSE(Rung());
  arena_->RingAwaiting(2);
  ASSERT_TRUE(Rung());
  waiter_.Wait(ticket, kHours);
}

TEST_F(PostWaiterTest, OtherProgressWakesTheRank) {
  const auto ticket = waiter_.Prepare();
  arena_->RingOthers(1);
  ASSERT_TRUE(Rung());
  waiter_.Wait(ticket, kHours);
}

TEST_F(PostWaiterTest, ARankThatChangesItsAwaitedPostPollsAgain) {
  const auto ticket = waiter_.Prepare();
  awaited_ = 1;
  waiter_.Wait(ticket, kHours);  // returns at once: rank 1 may have posted in between
  waiter_.Prepare();
  arena_->RingAwaiting(2);
  EXPECT_FALSE(Rung());
  arena_->RingAwaiting(1);
  ASSERT_TRUE(Rung());
}

TEST_F(PostWaiterTest, IsWokenByThePostOfAnotherThread) {
  for (int i = 0; i < 100; ++i) {
    const auto ticket = waiter_.Prepare();
    std::thread poster([&] { arena_->RingAwaiting(2); });
    waiter_.Wait(ticket, kHours);
    poster.join();
  }
}

/// The arena of the test, and the number of fences after the first rank published its awaited rank.
transport::Arena* fenced_arena = nullptr;
bool fence_works = true;
int fences_behind_the_word = 0;

bool FakeFence() {
  const transport::ArenaRank& rank = fenced_arena->rank(0);
  fences_behind_the_word += (rank.bell.value & 3u) != 0 && rank.awaits == 3;
  return fence_works;
}

TEST_F(PostWaiterTest, FencesAfterItAnnouncesTheWait) {
  fenced_arena = arena_.get();
  fence_works = true;
  fences_behind_the_word = 0;
  PostWaiter fencing(arena_->rank(0), awaited_);
  fencing.set_fence(&FakeFence);
  EXPECT_TRUE(fencing.fences());
  EXPECT_FALSE(waiter_.fences());
  const auto ticket = fencing.Prepare();
  EXPECT_EQ(fences_behind_the_word, 1);
  arena_->RingAwaiting(2);
  fencing.Wait(ticket, kHours);
}

TEST_F(PostWaiterTest, DoesNotSleepIfItsFenceFails) {
  fenced_arena = arena_.get();
  fence_works = false;
  PostWaiter fencing(arena_->rank(0), awaited_);
  fencing.set_fence(&FakeFence);
  fencing.Wait(fencing.Prepare(), kHours);  // returns at once
}

}  // namespace
}  // namespace ringlet::collective
