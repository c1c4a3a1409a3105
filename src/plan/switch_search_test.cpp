#include "plan/switch_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

struct Laid {
  bool applies = false;
  TrialOutcome outcome;
  PatternGraph graph;
};

Laid Lay(std::string_view words, bool beyond, Pattern pattern, std::uint32_t channels,
         std::uint32_t mb_per_s) {
  const MachineForTest machine(words);
  WayTable table(machine.paths());
  const SearchOptions options;
  const NetChoice nets(table, options);
  SwitchSearch search(table, nets, beyond);
  Laid laid;
  laid.applies = search.applies();
  if (!laid.applies) return laid;
  Trial trial;
  trial.pattern = pattern;
  trial.intra_mb_per_s = trial.inter_mb_per_s = mb_per_s;
  trial.min_channels = trial.max_channels = channels;
  laid.outcome = search.Lay(trial, Pricing::kScarce, laid.graph);
  return laid;
}

constexpr std::string_view kEight = "2x(numa: 2x(switch: 2 gpu h100-sxm5 switch, 1 nic 400g))";

TEST(SwitchSearchTest, AppliesWhereASwitchJoinsAllDevices) {
  EXPECT_FALSE(Lay("(switch: 4 gpu)", false, Pattern::kRing, 1, 1).applies);
  EXPECT_TRUE(Lay(kEight, false, Pattern::kRing, 1, 1).applies);
}

TEST(SwitchSearchTest, ChainsEndAtEachDeviceInTurn) {
  const Laid laid = Lay(kEight, false, Pattern::kBalancedTree, 8, 370'800 / 7);
  ASSERT_TRUE(laid.outcome.perfect);
  std::set<std::uint32_t> ends;
  for (const LocalChannel& channel : laid.graph.channels) ends.insert(channel.devices.back());
  EXPECT_EQ(ends.size(), 8u);
  EXPECT_FALSE(Lay(kEight, false, Pattern::kBalancedTree, 8, 370'800 / 7 + 1).outcome.perfect);
}

TEST(SwitchSearchTest, RingsUseEveryNicAndLeaveByTheOneTheyCameIn) {
  const Laid laid = Lay(kEight, true, Pattern::kRing, 4, 40'000);
  ASSERT_TRUE(laid.outcome.perfect);
  std::set<std::uint32_t> nets;
  for (const LocalChannel& channel : laid.graph.channels) {
    EXPECT_EQ(channel.entry, channel.exit);
    nets.insert(*channel.entry);
    std::vector<std::uint32_t> sorted = channel.devices;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(sorted[i], i);
  }
  EXPECT_EQ(nets.size(), 4u);
}

TEST(SwitchSearchTest, NamesTheLinkThatIsFull) {
  const Laid laid = Lay(kEight, true, Pattern::kRing, 5, 40'000);
  EXPECT_FALSE(laid.outcome.perfect);
  EXPECT_EQ(laid.outcome.channels, 4u);
  EXPECT_TRUE(laid.graph.channels.empty());
}

TEST(SwitchSearchTest, HalfOfABalancedTreeLeavesFromTheSecondDevice) {
  const Laid laid = Lay(kEight, true, Pattern::kBalancedTree, 4, 30'000);
  ASSERT_TRUE(laid.outcome.perfect);
  for (const LocalChannel& channel : laid.graph.channels) {
    EXPECT_EQ(channel.devices.size(), 8u);
    EXPECT_EQ(channel.entry, channel.exit);
  }
}

}  // namespace
}  // namespace ringlet::plan
