#include "pytorch/group/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "comm/service/clock.hpp"
#include "pytorch/store/store_for_test.hpp"
#include "pytorch/tensors/process.hpp"

namespace ringlet::torch_api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// Holds a barrier call without information about the end of ranks.
Status Hold(KeyStore& store, const BarrierCall& barrier_call) {
  MemoryStore of_nobody;
  Presence presence(of_nobody, {.rank = barrier_call.rank});
  return RunMonitoredBarrier(store, presence, barrier_call, {});
}

TEST(BarrierCall, AllRanksPassTheBarrier) {
  MemoryStore store;
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      for (std::uint64_t number = 0; number < 3; ++number) {
        const Status status =
            Hold(store, {.rank = rank, .size = 4, .number = number, .timeout = seconds(30)});
        EXPECT_TRUE(status.ok()) << status.error().message;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(store.size(), 5u) << "verdict and count of the last barrier, and arrivals by rank";
}

// Records an arrival, as a rank does that waits for rank 0's verdict.
void Arrive(KeyStore& store, std::uint32_t rank) {
  ASSERT_TRUE(store.CountUp("muster:0:count").ok());
  ASSERT_TRUE(store.Set("muster:at:" + std::to_string(rank), AsView("0")).ok());
}

Status AtRankZero(bool wait_for_all) {
  MemoryStore store;
  Arrive(store, 2);
  return Hold(store, {.size = 4, .timeout = milliseconds(2), .wait_for_all = wait_for_all});
}

TEST(BarrierCall, RankZeroNamesTheFirstMissingRankOrAll) {
  EXPECT_THAT(AtRankZero(false).error().message,
              HasSubstr("Rank 1 failed to pass monitoredBarrier in 2 ms"));
  EXPECT_THAT(AtRankZero(true).error().message,
              HasSubstr("Ranks 1, 3 failed to pass monitoredBarrier"));
}

TEST(BarrierCall, ArrivedRanksReceiveTheNamesOfMissingRanks) {
  MemoryStore store;
  Status at_two = Ok();
  std::thread two(
      [&] { at_two = Hold(store, {.rank = 2, .size = 3, .timeout = milliseconds(500)}); });
  const Status at_zero = Hold(store, {.size = 3, .timeout = milliseconds(500)});
  two.join();
  EXPECT_FALSE(at_zero.ok());
  ASSERT_FALSE(at_two.ok());
  EXPECT_THAT(at_two.error().message,
              HasSubstr("Rank 2 successfully reached monitoredBarrier, but"));
  EXPECT_THAT(at_two.error().message, HasSubstr("Rank 1 failed"));
}

TEST(BarrierCall, ARankThatArrivesLateGetsTheSameVerdict) {
  MemoryStore store;
  const Status at_zero = Hold(store, {.size = 2, .timeout = milliseconds(2)});
  const Status at_one = Hold(store, {.rank = 1, .size = 2, .timeout = seconds(30)});
  EXPECT_THAT(at_zero.error().message, HasSubstr("Rank 1 failed to pass"));
  EXPECT_THAT(at_one.error().message, HasSubstr("Rank 0 reports: Rank 1 failed to pass"));
}

TEST(BarrierCall, RankZeroPassesIfTheLastRankArrivesWhileItGivesUp) {
  struct LateStore final : MemoryStore {
    using KeyStore::CountUp;
    Result<std::uint64_t> CountUp(const std::string& key, std::uint32_t by) override {
      if (by > 1) Arrive(*this, 1);
      return MemoryStore::CountUp(key, by);
    }
  };
  LateStore store;
  const Status status = Hold(store, {.size = 2, .timeout = milliseconds(2)});
  EXPECT_TRUE(status.ok()) << status.error().message;
  const auto verdict = store.Find("muster:0");
  ASSERT_TRUE(verdict.ok() && verdict->has_value()) << "the last rank may end before it reports";
  EXPECT_EQ(AsText(**verdict), "all came");
}

TEST(BarrierCall, ARankInALaterBarrierIsNotMissing) {
  MemoryStore store;
  ASSERT_TRUE(store.Set("muster:at:1", AsView("10")).ok());
  const Status status = Hold(store, {.size = 3, .number = 9, .timeout = milliseconds(2)});
  EXPECT_THAT(status.error().message, HasSubstr("Rank 2 failed to pass"));
}

TEST(BarrierCall, RanksThatPassAfterAFailureWaitForAllAgain) {
  MemoryStore store;
  EXPECT_FALSE(Hold(store, {.size = 2, .timeout = milliseconds(2)}).ok());
  EXPECT_FALSE(Hold(store, {.size = 2, .number = 1, .timeout = milliseconds(2)}).ok());
  EXPECT_FALSE(Hold(store, {.rank = 1, .size = 2, .timeout = seconds(30)}).ok());
  EXPECT_FALSE(Hold(store, {.rank = 1, .size = 2, .number = 1, .timeout = seconds(30)}).ok());
  std::thread one([&] {
    EXPECT_TRUE(Hold(store, {.rank = 1, .size = 2, .number = 2, .timeout = seconds(30)}).ok());
  });
  EXPECT_TRUE(Hold(store, {.size = 2, .number = 2, .timeout = seconds(30)}).ok());
  one.join();
}

TEST(BarrierCall, WithoutTimeRankZeroReportsItsOwnTimeout) {
  MemoryStore store;
  EXPECT_THAT(Hold(store, {.size = 2}).error().message,
              HasSubstr("Rank 0 timed out in monitoredBarrier"));
}

std::unique_ptr<Presence> Come(KeyStore& store, std::uint32_t rank) {
  const auto process = SharedProcess();
  auto beacon = comm::Beacon::Start(**process);
  EXPECT_TRUE(beacon.ok());
  auto presence = std::make_unique<Presence>(
      store, Presence::Self{.rank = rank, .beacon = *beacon, .process = rank + 1});
  EXPECT_TRUE(presence->Announce().ok());
  return presence;
}

TEST(BarrierCall, RankZeroNamesARankThatEndedOrLeftAtOnce) {
  for (const bool all : {false, true}) {
    MemoryStore store;
    const auto zero = Come(store, 0);
    const auto one = Come(store, 1);
    auto two = Come(store, 2), three = Come(store, 3);
    ASSERT_TRUE(three->Leave(Presence::Use::kNone).ok());
    two = nullptr;  // closes its beacon, as the end of its process would
    Arrive(store, 1);
    const Status status = RunMonitoredBarrier(
        store, *zero, {.size = 4, .timeout = std::chrono::hours(10), .wait_for_all = all}, {});
    EXPECT_EQ(status.error().code, Code::kPeerLost);
    if (all) {
      EXPECT_THAT(status.error().message,
                  HasSubstr("Ranks 2, 3 failed to pass monitoredBarrier: rank 2 is lost: its "
                            "process has ended; rank 3 has left the process group"));
    } else {
      EXPECT_THAT(status.error().message,
                  testing::ContainsRegex("Rank [23] failed to pass monitoredBarrier: rank [23]"));
    }
  }
}

TEST(BarrierCall, WaitingRanksReportTheEndOfRankZero) {
  MemoryStore store;
  auto zero = Come(store, 0);
  const auto one = Come(store, 1);
  zero = nullptr;
  const Status status = RunMonitoredBarrier(
      store, *one, {.rank = 1, .size = 2, .timeout = std::chrono::hours(10)}, {});
  EXPECT_THAT(status.error().message, HasSubstr("Rank 0 reports: rank 0 is lost"));
}

// Rank 0 checks the store once in 5 ms, however short its pauses are.
TEST(BarrierCall, ASlowStoreDoesNotLengthenTheTimeout) {
  struct SlowStore final : MemoryStore {
    Result<std::optional<Bytes>> Find(const std::string& key) override {
      ++looks;
      const Instant begin = comm::Now();
      while (comm::Now() < begin + milliseconds(5)) std::this_thread::yield();
      return MemoryStore::Find(key);
    }
    int looks = 0;
  };
  SlowStore store;
  EXPECT_FALSE(Hold(store, {.size = 2, .timeout = milliseconds(50)}).ok());
  EXPECT_LE(store.looks, 11);
}

}  // namespace
}  // namespace ringlet::torch_api
