#include "pytorch/execution/serial_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <optional>
#include <thread>
#include <vector>

namespace ringlet::torch_api {
namespace {

TEST(SerialExecutor, RunsOnTheCallersThreadWhenIdle) {
  Helpers helpers;
  SerialExecutor serial_executor(helpers);
  std::thread::id ran_on;
  serial_executor.RunHere([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(SerialExecutor, KeepsTheOrderOfSubmittedAndDirectJobs) {
  std::vector<int> order;
  {
    Helpers helpers;
    SerialExecutor serial_executor(helpers);
    std::latch begin(1);
    serial_executor.Submit([&](auto&) {
      begin.wait();
      order.push_back(0);
    });
    serial_executor.Submit([&](auto&) { order.push_back(1); });
    std::thread opener([&] { begin.count_down(); });
    serial_executor.RunHere([&] { order.push_back(2); });
    serial_executor.Submit([&](auto&) { order.push_back(3); });
    opener.join();
  }
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3)) << "and the destructor ran the last one";
}

TEST(SerialExecutor, RunsOneJobAtATimeForManyCallers) {
  Helpers helpers;
  SerialExecutor serial_executor(helpers);
  int inside = 0, sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        serial_executor.RunHere([&] {
          EXPECT_EQ(++inside, 1);
          ++sum;
          --inside;
        });
    });
  for (int i = 0; i < 200; ++i) serial_executor.Submit([&](auto&) { ++sum; });
  for (std::thread& caller : callers) caller.join();
  serial_executor.RunHere([&] { EXPECT_EQ(sum, 1000); });
}

TEST(SerialExecutor, AJobMaySubmitAndWaitAfterItsTurn) {
  Helpers helpers;
  SerialExecutor serial_executor(helpers);
  std::vector<int> order;
  std::latch outer(1), inner(1);
  serial_executor.Submit([&](SerialExecutor::Turn& turn) {
    order.push_back(0);
    turn.End();
    serial_executor.RunHere([&] { order.push_back(2); });
    serial_executor.Submit([&](SerialExecutor::Turn& later) {
      order.push_back(3);
      later.End();
      serial_executor.RunHere([&] { order.push_back(4); });
      inner.count_down();
    });
    inner.wait();
    outer.count_down();
  });
  serial_executor.RunHere([&] { order.push_back(1); });
  outer.wait();
  EXPECT_EQ(order.size(), 5U);
  EXPECT_EQ(order.front(), 0);
}

TEST(SerialExecutor, AJobThatOutlastsItsTurnDoesNotDelayOthers) {
  Helpers helpers;
  std::latch last(1);
  SerialExecutor serial_executor(helpers);
  // Each job waits for later ones, three levels deep.
  for (int i = 0; i < 3; ++i)
    serial_executor.Submit([&](SerialExecutor::Turn& turn) {
      turn.End();
      last.wait();
    });
  serial_executor.Submit([&](auto&) { last.count_down(); });
  serial_executor.RunHere([] {});
}

// Keeps the turn until all submitted jobs have been taken.
void HoldUntilTaken(SerialExecutor& serial_executor, std::latch& holds) {
  serial_executor.RunHere([&] {
    holds.count_down();
    while (serial_executor.queued() > 0) std::this_thread::yield();
  });
}

TEST(SerialExecutor, AWaitingCallerRunsItsUnstartedJob) {
  Helpers helpers;
  SerialExecutor serial_executor(helpers);
  std::latch holds(1);
  std::thread holder([&] { HoldUntilTaken(serial_executor, holds); });
  holds.wait();
  std::thread::id ran_on;
  const auto job = serial_executor.Submit([&](auto&) { ran_on = std::this_thread::get_id(); });
  job.RunHereUnlessBegun();
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  holder.join();
}

TEST(SerialExecutor, AWaitForALaterJobKeepsTheOrder) {
  std::vector<int> order;
  {
    Helpers helpers;
    SerialExecutor serial_executor(helpers);
    std::latch begin(1);
    serial_executor.Submit([&](auto&) { begin.wait(); });
    serial_executor.Submit([&](auto&) { order.push_back(1); });
    const auto job = serial_executor.Submit([&](auto&) { order.push_back(2); });
    serial_executor.Submit([&](auto&) { order.push_back(3); });
    begin.count_down();
    job.RunHereUnlessBegun();
  }
  EXPECT_THAT(order, testing::ElementsAre(1, 2, 3)) << "what followed it found a thread, too";
}

TEST(SerialExecutor, AJobRunByACallerMayEndItsTurn) {
  Helpers helpers;
  SerialExecutor serial_executor(helpers);
  std::latch holds(1);
  std::thread holder([&] { HoldUntilTaken(serial_executor, holds); });
  holds.wait();
  int inner = 0;
  const auto job = serial_executor.Submit([&](SerialExecutor::Turn& turn) {
    turn.End();
    serial_executor.RunHere([&] { ++inner; });
  });
  job.RunHereUnlessBegun();
  job.RunHereUnlessBegun();
  EXPECT_EQ(inner, 1) << "the second time it had begun";
  holder.join();
}

TEST(SerialExecutor, ManyWaitingCallersRunEachJobOnce) {
  Helpers helpers;
  SerialExecutor serial_executor(helpers);
  int inside = 0, sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        serial_executor
            .Submit([&](auto&) {
              EXPECT_EQ(++inside, 1);
              ++sum;
              --inside;
            })
            .RunHereUnlessBegun();
    });
  for (std::thread& caller : callers) caller.join();
  serial_executor.RunHere([&] { EXPECT_EQ(sum, 800); });
}

TEST(SerialExecutor, AThreadInsideATurnLeavesJobsToHelpers) {
  Helpers helpers;
  SerialExecutor serial_executor(helpers);
  std::optional<SerialExecutor::Submitted> job;
  bool ran = false;
  std::latch holds(1), submitted(1);
  std::thread holder([&] {
    serial_executor.RunHere([&] {
      holds.count_down();
      submitted.wait();
      job->RunHereUnlessBegun();
      EXPECT_FALSE(ran) << "it would have waited for itself";
    });
  });
  holds.wait();
  job = serial_executor.Submit([&](auto&) { ran = true; });
  submitted.count_down();
  holder.join();
  serial_executor.RunHere([&] { EXPECT_TRUE(ran); });
}

TEST(SerialExecutor, RecognizesTheThreadInside) {
  Helpers helpers;
  SerialExecutor serial_executor(helpers), other(helpers);
  EXPECT_FALSE(serial_executor.IsInside());
  serial_executor.RunHere([&] {
    EXPECT_TRUE(serial_executor.IsInside());
    other.RunHere([&] {
      EXPECT_TRUE(serial_executor.IsInside());
      EXPECT_TRUE(other.IsInside());
    });
    EXPECT_FALSE(other.IsInside());
  });
  serial_executor.Submit([&](SerialExecutor::Turn& turn) {
    EXPECT_TRUE(serial_executor.IsInside());
    turn.End();
    EXPECT_FALSE(serial_executor.IsInside());
  });
}

}  // namespace
}  // namespace ringlet::torch_api
