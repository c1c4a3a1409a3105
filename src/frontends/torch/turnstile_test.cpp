#include "frontends/torch/turnstile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

namespace ringlet::torch_api {
namespace {

TEST(Turnstile, RunsOnTheCallersThreadWhenNobodyElseIsThere) {
  Helpers helpers;
  Turnstile turnstile(helpers);
  std::thread::id ran_on;
  turnstile.RunHere([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(Turnstile, KeepsTheOrderOfBothWays) {
  std::vector<int> order;
  {
    Helpers helpers;
    Turnstile turnstile(helpers);
    std::latch begin(1);
    turnstile.Submit([&](auto&) {
      begin.wait();
      order.push_back(0);
    });
    turnstile.Submit([&](auto&) { order.push_back(1); });
    std::thread opener([&] { begin.count_down(); });
    turnstile.RunHere([&] { order.push_back(2); });
    turnstile.Submit([&](auto&) { order.push_back(3); });
    opener.join();
  }
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3)) << "and the destructor ran the last one";
}

TEST(Turnstile, OneAtATimeWithManyCallers) {
  Helpers helpers;
  Turnstile turnstile(helpers);
  int inside = 0, sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        turnstile.RunHere([&] {
          EXPECT_EQ(++inside, 1);
          ++sum;
          --inside;
        });
    });
  for (int i = 0; i < 200; ++i) turnstile.Submit([&](auto&) { ++sum; });
  for (std::thread& caller : callers) caller.join();
  turnstile.RunHere([&] { EXPECT_EQ(sum, 1000); });
}

TEST(Turnstile, WhoEndedItsTurnMaySubmitAndWait) {
  Helpers helpers;
  Turnstile turnstile(helpers);
  std::vector<int> order;
  std::latch outer(1), inner(1);
  turnstile.Submit([&](Turnstile::Turn& turn) {
    order.push_back(0);
    turn.End();
    turnstile.RunHere([&] { order.push_back(2); });
    turnstile.Submit([&](Turnstile::Turn& later) {
      order.push_back(3);
      later.End();
      turnstile.RunHere([&] { order.push_back(4); });
      inner.count_down();
    });
    inner.wait();
    outer.count_down();
  });
  turnstile.RunHere([&] { order.push_back(1); });
  outer.wait();
  EXPECT_EQ(order.size(), 5U);
  EXPECT_EQ(order.front(), 0);
}

TEST(Turnstile, AJobThatOutlastsItsTurnHoldsNobodyUp) {
  Helpers helpers;
  std::latch last(1);
  Turnstile turnstile(helpers);
  // Each waits for what comes after it, three deep.
  for (int i = 0; i < 3; ++i)
    turnstile.Submit([&](Turnstile::Turn& turn) {
      turn.End();
      last.wait();
    });
  turnstile.Submit([&](auto&) { last.count_down(); });
  turnstile.RunHere([] {});
}

TEST(Turnstile, KnowsWhoIsInside) {
  Helpers helpers;
  Turnstile turnstile(helpers), other(helpers);
  EXPECT_FALSE(turnstile.IsInside());
  turnstile.RunHere([&] {
    EXPECT_TRUE(turnstile.IsInside());
    other.RunHere([&] {
      EXPECT_TRUE(turnstile.IsInside());
      EXPECT_TRUE(other.IsInside());
    });
    EXPECT_FALSE(other.IsInside());
  });
  turnstile.Submit([&](Turnstile::Turn& turn) {
    EXPECT_TRUE(turnstile.IsInside());
    turn.End();
    EXPECT_FALSE(turnstile.IsInside());
  });
}

}  // namespace
}  // namespace ringlet::torch_api
