#include "collective/patience.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "collective/host_engine.hpp"
#include "collective/run.hpp"

namespace ringlet::collective {
namespace {

using transport::Arena;

Status AlwaysFine() {
  return Ok();
}

Status RunOnHost(HostEngine& engine, const HostCall& call, const RunPolicy& policy) {
  engine.Start(call);
  return RunToEnd(engine, *engine.place()->waiter, policy);
}

// Every rank a thread, many operations in a row, with each way of waiting.
void RunThreads(std::uint32_t ranks, Patience patience) {
  auto arena = Arena::Create({.ranks = ranks, .slot_bytes = 1024, .stage_bytes = 4096});
  ASSERT_TRUE(arena.ok());
  constexpr std::uint64_t kCounts[] = {1, 100, 5000};
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < ranks; ++self)
    threads.emplace_back([&, self] {
      HostEngine engine(*arena, self, patience);
      for (int turn = 0; turn < 60; ++turn) {
        std::vector<std::int32_t> data(kCounts[turn % 3]);
        std::iota(data.begin(), data.end(), static_cast<std::int32_t>(self));
        const HostCall call{.operation = CallKind::kAllReduce,
                            .type = DataType::kInt32,
                            .count = data.size(),
                            .input = reinterpret_cast<const std::byte*>(data.data()),
                            .output = reinterpret_cast<std::byte*>(data.data())};
        const Status status = RunOnHost(engine, call, {.check = AlwaysFine});
        ASSERT_TRUE(status.ok()) << status.error().message;
        for (std::size_t i = 0; i < data.size(); ++i)
          ASSERT_EQ(data[i], static_cast<std::int32_t>(ranks * i + ranks * (ranks - 1) / 2));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Patience, ThreadsThatSleep) {
  RunThreads(2, {.looks = 0, .yields = 0});
  RunThreads(5, {.looks = 0, .yields = 0});
}
TEST(Patience, ThreadsThatYield) {
  RunThreads(5, {.looks = 0, .yields = 100});
}
TEST(Patience, ThreadsThatLook) {
  RunThreads(2, {.looks = 200, .yields = 100});
}

TEST(Patience, RanksThatShareCoresDoNotSpin) {
  EXPECT_EQ(Patience::Sharing().looks, 0u);
  EXPECT_GT(Patience::Sharing().yields, 0u);
  EXPECT_GT(Patience::WithCores().looks, 0u);
}

TEST(Patience, LooksThenYieldsThenHasEnough) {
  const Patience patience{.looks = 2, .yields = 3};
  for (std::uint32_t idle = 0; idle < 5; ++idle) EXPECT_TRUE(patience.Linger(idle));
  EXPECT_FALSE(patience.Linger(5));
  EXPECT_FALSE(Patience().Linger(0));
}

TEST(Patience, EndsWhenTheCheckObjects) {
  auto arena = Arena::Create({.ranks = 2});
  ASSERT_TRUE(arena.ok());
  HostEngine engine(*arena, 0, Patience{.looks = 1, .yields = 1});
  int asked = 0;
  const RunPolicy policy{.check = [&]() -> Status {
                           if (++asked < 3) return Ok();
                           return Error{Code::kTimeout, "too late"};
                         },
                         .sleep_max = std::chrono::milliseconds(1)};
  const Status status = RunOnHost(engine, {.operation = CallKind::kBarrier}, policy);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "too late");
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace ringlet::collective
