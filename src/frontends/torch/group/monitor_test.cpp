#include "frontends/torch/group/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "frontends/torch/group/store_for_test.hpp"

namespace ringlet::torch_api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(Muster, AllRanksThatComeGoOn) {
  MemoryStore store;
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      for (std::uint64_t number = 0; number < 3; ++number) {
        const Status status = HoldMuster(
            store, {.rank = rank, .size = 4, .number = number, .timeout = seconds(30)}, {});
        EXPECT_TRUE(status.ok()) << status.error().message;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store.size(), 3u) << "only what rank 0 said is left";
}

Status AtRankZero(MemoryStore& store, bool wait_for_all) {
  return HoldMuster(store, {.size = 4, .timeout = milliseconds(2), .wait_for_all = wait_for_all},
                    {});
}

TEST(Muster, RankZeroNamesTheFirstMissingRankOrAll) {
  MemoryStore store;
  ASSERT_TRUE(store.Set("muster:0:2", AsView("here")).ok());
  EXPECT_THAT(AtRankZero(store, false).error().message,
              HasSubstr("Rank 1 failed to pass monitoredBarrier in 2 ms"));
  ASSERT_TRUE(store.Set("muster:0:2", AsView("here")).ok());
  EXPECT_THAT(AtRankZero(store, true).error().message,
              HasSubstr("Ranks 1, 3 failed to pass monitoredBarrier"));
}

TEST(Muster, RanksThatCameHearTheMissingOnes) {
  MemoryStore store;
  Status at_two = Ok();
  std::thread two([&] {
    at_two = HoldMuster(store, {.rank = 2, .size = 3, .timeout = milliseconds(500)}, {});
  });
  const Status at_zero = HoldMuster(store, {.size = 3, .timeout = milliseconds(500)}, {});
  two.join();
  EXPECT_FALSE(at_zero.ok());
  ASSERT_FALSE(at_two.ok());
  EXPECT_THAT(at_two.error().message,
              HasSubstr("Rank 2 successfully reached monitoredBarrier, but"));
  EXPECT_THAT(at_two.error().message, HasSubstr("Rank 1 failed"));
}

TEST(Muster, WithoutTimeRankZeroIsTheOneThatTimesOut) {
  MemoryStore store;
  EXPECT_THAT(HoldMuster(store, {.size = 2}, {}).error().message,
              HasSubstr("Rank 0 timed out in monitoredBarrier"));
}

}  // namespace
}  // namespace ringlet::torch_api
