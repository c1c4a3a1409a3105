#include "pytorch/execution/helpers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>

namespace ringlet::torch_api {
namespace {

TEST(Helpers, RunEachJobWithoutWaitingForOthers) {
  Helpers helpers;
  constexpr int kJobs = 20;
  std::latch all(kJobs);
  std::atomic<int> done{0};
  for (int i = 0; i < kJobs; ++i)
    ASSERT_TRUE(helpers.TryRun([&] {
      all.arrive_and_wait();  // all run at the same time
      ++done;
      done.notify_all();
    }));
  for (int seen = done; seen < kJobs; seen = done) done.wait(seen);
}

TEST(Helpers, FinishTheirJobsBeforeTheyEnd) {
  std::atomic<int> done{0};
  {
    Helpers helpers;
    for (int i = 0; i < 100; ++i) helpers.Run([&] { ++done; });
  }
  EXPECT_EQ(done, 100);
}

TEST(Helpers, MayBeDestroyedByAJob) {
  std::latch ended(1);
  auto helpers = std::make_unique<Helpers>();
  Helpers& them = *helpers;
  ASSERT_TRUE(
      them.TryRun([&, owned = std::make_shared<std::unique_ptr<Helpers>>(std::move(helpers))] {
        owned->reset();
        ended.count_down();
      }));
  ended.wait();
}

}  // namespace
}  // namespace ringlet::torch_api
