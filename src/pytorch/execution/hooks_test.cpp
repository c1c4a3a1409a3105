#include "pytorch/execution/hooks.hpp"

#include <gtest/gtest.h>

namespace ringlet::torch_api {
namespace {

TEST(Hooks, RunInTheOrderOfTheirNumbers) {
  Hooks<int> hooks;
  std::vector<int> seen;
  EXPECT_TRUE(hooks.Add(7, [&](int value) { seen.push_back(70 + value); }));
  EXPECT_TRUE(hooks.Add(2, [&](int value) { seen.push_back(20 + value); }));
  EXPECT_FALSE(hooks.Add(7, [&](int) { seen.push_back(0); })) << "the number is in use";
  hooks.Run(1);
  EXPECT_EQ(seen, (std::vector{21, 71}));
  hooks.Remove(2);
  hooks.Remove(3);
  hooks.Run(2);
  EXPECT_EQ(seen, (std::vector{21, 71, 72}));
}

TEST(Hooks, AHookMayRemoveItself) {
  Hooks<> hooks;
  int runs = 0;
  hooks.Add(1, [&] {
    ++runs;
    hooks.Remove(1);
  });
  hooks.Run();
  hooks.Run();
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace ringlet::torch_api
