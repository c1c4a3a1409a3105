#include "plan/routes/channel_ways.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ringlet::plan {
namespace {

std::string Routes(Pattern pattern, const LocalChannel& channel) {
  std::string text;
  const auto name = [](EndIndex end) {
    return (end.end == End::kNet ? "n" : "") + std::to_string(end.number);
  };
  ForEachRoute(pattern, channel, [&](EndIndex from, EndIndex to, bool half) {
    text += name(from) + (half ? "~" : "-") + name(to) + " ";
    return true;
  });
  return text;
}

TEST(ChannelWaysTest, EveryPatternHasItsRoutes) {
  const LocalChannel inside{{2, 0, 1}};
  EXPECT_EQ(Routes(Pattern::kRing, inside), "2-0 0-1 1-2 ");
  EXPECT_EQ(Routes(Pattern::kBalancedTree, inside), "2-0 0-1 ");
  const LocalChannel multi_node{{2, 0, 1}, 3, 4};
  EXPECT_EQ(Routes(Pattern::kRing, multi_node), "2-0 0-1 n3-2 1-n4 ");
  EXPECT_EQ(Routes(Pattern::kTree, multi_node), "2-0 0-1 n3-2 2-n4 ");
  EXPECT_EQ(Routes(Pattern::kSplitTree, multi_node), "2-0 0-1 n3-2 0-n4 ");
  EXPECT_EQ(Routes(Pattern::kBalancedTree, multi_node), "2-0 0-1 n3-2 2~n4 0~n4 ");
}

TEST(ChannelWaysTest, StopsIfTheVisitorReturnsFalse) {
  int seen = 0;
  EXPECT_FALSE(ForEachRoute(Pattern::kRing, LocalChannel{{0, 1, 2}},
                            [&](EndIndex, EndIndex, bool) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace ringlet::plan
