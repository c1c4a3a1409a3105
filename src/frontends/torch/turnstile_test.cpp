#include "frontends/torch/turnstile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <vector>

namespace ringlet::torch_api {
namespace {

TEST(Turnstile, RunsOnTheCallersThreadWhenNobodyElseIsThere) {
  Turnstile turnstile;
  std::thread::id ran_on;
  turnstile.RunHere([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(Turnstile, KeepsTheOrderOfBothWays) {
  std::vector<int> order;
  {
    Turnstile turnstile;
    std::latch begin(1);
    turnstile.Submit([&] {
      begin.wait();
      order.push_back(0);
    });
    turnstile.Submit([&] { order.push_back(1); });
    std::thread opener([&] { begin.count_down(); });
    turnstile.RunHere([&] { order.push_back(2); });
    turnstile.Submit([&] { order.push_back(3); });
    opener.join();
  }
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3)) << "and the destructor ran the last one";
}

TEST(Turnstile, OneAtATimeWithManyCallers) {
  Turnstile turnstile;
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
  for (int i = 0; i < 200; ++i) turnstile.Submit([&] { ++sum; });
  for (std::thread& caller : callers) caller.join();
  turnstile.RunHere([&] { EXPECT_EQ(sum, 1000); });
}

}  // namespace
}  // namespace ringlet::torch_api
