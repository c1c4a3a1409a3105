#include "plan/search/direct_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

struct Laid {
  bool applies = false;
  StepOutcome outcome;
  PatternGraph graph;
};

Laid PlaceChannels(std::string_view words, bool multi_node, Pattern pattern, std::uint32_t channels,
                   std::uint32_t mb_per_s, std::uint8_t cross_nic = kCrossNicSame) {
  const MachineForTest machine(words);
  RouteTable table(machine.paths());
  const SearchOptions options;
  const NicSelector nets(table, options);
  DirectSearch search(table, nets, multi_node);
  Laid laid;
  laid.applies = search.any_order();
  if (!search.lays()) return laid;
  SearchStep search_step;
  search_step.pattern = pattern;
  search_step.intra_mb_per_s = search_step.inter_mb_per_s = mb_per_s;
  search_step.cross_nic = cross_nic;
  search_step.min_channels = search_step.max_channels = channels;
  laid.outcome = search.PlaceChannels(search_step, Pricing::kScarce, laid.graph);
  return laid;
}

constexpr std::string_view kEight = "2x(numa: 2x(switch: 2 gpu h100-sxm5 switch, 1 nic 400g))";

TEST(DirectSearchTest, AppliesIfASwitchJoinsAllDevices) {
  EXPECT_FALSE(PlaceChannels("(switch: 4 gpu)", false, Pattern::kRing, 1, 1).applies);
  EXPECT_TRUE(PlaceChannels(kEight, false, Pattern::kRing, 1, 1).applies);
}

TEST(DirectSearchTest, ChainsEndAtEachDeviceInTurn) {
  const Laid laid = PlaceChannels(kEight, false, Pattern::kBalancedTree, 8, 370'800 / 7);
  ASSERT_TRUE(laid.outcome.perfect);
  std::set<std::uint32_t> ends;
  for (const LocalChannel& channel : laid.graph.channels) ends.insert(channel.devices.back());
  EXPECT_EQ(ends.size(), 8u);
  EXPECT_FALSE(
      PlaceChannels(kEight, false, Pattern::kBalancedTree, 8, 370'800 / 7 + 1).outcome.perfect);
}

TEST(DirectSearchTest, RingsUseEveryNicAndLeaveByTheirEntryNic) {
  const Laid laid = PlaceChannels(kEight, true, Pattern::kRing, 4, 40'000);
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

TEST(DirectSearchTest, ChannelsVisitEveryDeviceOnce) {
  for (const std::string_view words :
       {kEight, std::string_view("(numa: 2x(switch: 4 gpu, 1 nic))")})
    for (const bool multi_node : {false, true})
      for (const Pattern pattern : {Pattern::kRing, Pattern::kBalancedTree, Pattern::kTree}) {
        const Laid laid = PlaceChannels(words, multi_node, pattern, 2, 1'000);
        ASSERT_TRUE(laid.outcome.perfect);
        for (const LocalChannel& channel : laid.graph.channels) {
          EXPECT_EQ(channel.devices.size(), 8u);
          EXPECT_EQ(std::set(channel.devices.begin(), channel.devices.end()).size(), 8u);
        }
      }
}

TEST(DirectSearchTest, ReportsAFullLink) {
  const Laid laid = PlaceChannels(kEight, true, Pattern::kRing, 5, 40'000);
  EXPECT_FALSE(laid.outcome.perfect);
  EXPECT_EQ(laid.outcome.channels, 4u);
  EXPECT_TRUE(laid.graph.channels.empty());
}

TEST(DirectSearchTest, PairedChannelsUseOppositeNics) {
  const Laid laid = PlaceChannels("2x(numa: (switch: 2 gpu, 1 nic 100g))", true, Pattern::kRing, 2,
                                  5'000, kCrossNicPairs);
  ASSERT_TRUE(laid.outcome.perfect);
  EXPECT_EQ(laid.graph.channels[0].entry, laid.graph.channels[1].exit);
  EXPECT_EQ(laid.graph.channels[0].exit, laid.graph.channels[1].entry);
}

TEST(DirectSearchTest, ChannelsAreWidenedToTheirLinks) {
  const MachineForTest machine("(switch: 4 gpu)");
  RouteTable table(machine.paths());
  const SearchOptions options;
  const NicSelector nets(table, options);
  DirectSearch search(table, nets, false);
  PatternGraph graph;
  graph.channels = {{{0, 1, 2, 3}}, {{0, 1, 2, 3}}};
  graph.intra = graph.inter = {1'000};
  EXPECT_EQ(search.WidthOf(graph, 100'000), 12'000u);
  EXPECT_EQ(search.WidthOf(graph, 9'000), 9'000u);
  graph.intra = graph.inter = {13'000};
  EXPECT_EQ(search.WidthOf(graph, 100'000), 13'000u) << "never less than there is";
}

TEST(DirectSearchTest, BalancedTreesLeaveByTheirEntryNic) {
  const Laid laid = PlaceChannels(kEight, true, Pattern::kBalancedTree, 4, 30'000);
  ASSERT_TRUE(laid.outcome.perfect);
  for (const LocalChannel& channel : laid.graph.channels) {
    EXPECT_EQ(channel.devices.size(), 8u);
    EXPECT_EQ(channel.entry, channel.exit);
  }
}

}  // namespace
}  // namespace ringlet::plan
