#include "plan/channels/channel_plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/value/prng.hpp"
#include "plan/channels/double_tree.hpp"
#include "plan/channels/tree_parents_for_test.hpp"

namespace ringlet::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ChannelPlan::Options Sped(std::size_t base, std::uint32_t channels, std::uint32_t of_a_tree,
                          bool exchange) {
  return {.rings = std::vector<topology::Bandwidth>(base, {17'000}),
          .trees = std::vector<topology::Bandwidth>(base, {12'000}),
          .ring_channels = channels,
          .tree_channels = channels,
          .channels_of_a_tree = of_a_tree,
          .exchange = exchange};
}

// Two channels over two nodes, with three ranks and with one.
ChannelPlan Sample(bool exchange = false) {
  const NodeShape three{3,
                        {{0, 2, 1}, {1, 2, 0}},
                        {LocalTree{.order = {2, 0, 1}, .to_children = {1, 0}},
                         LocalTree{.order = {1, 0, 2}, .above = {0, 0}}},
                        {{0, 2}, {1}},
                        2};
  const NodeShape one{1, {{0}, {0}}, {LocalTree{.order = {0}}, LocalTree{.order = {0}}}, {{0}}};
  ChannelPlan plan(Sped(2, 4, 2, exchange), {three, one});
  plan.AddNode(0, std::vector{Rank{0}, Rank{1}, Rank{3}});
  plan.AddNode(1, std::vector{Rank{2}});
  plan.AddNode(0, std::vector{Rank{4}, Rank{5}, Rank{6}});
  plan.Finish();
  return plan;
}

TEST(ChannelPlanTest, RingsVisitNodesInOrder) {
  const ChannelPlan plan = Sample();
  EXPECT_TRUE(plan.Check().ok());
  EXPECT_EQ(ToText(plan),
            "channel 0: 17000 MB/s, ring 0 3 1 2 4 6 5\n"
            "channel 1: 17000 MB/s, ring 1 3 0 2 5 6 4\n"
            "channel 2: 17000 MB/s, ring 0 3 1 2 4 6 5\n"
            "channel 3: 17000 MB/s, ring 1 3 0 2 5 6 4\n");
  EXPECT_EQ(plan.ring_bandwidth().mb_per_s, 34'000u);
}

TEST(ChannelPlanTest, PlacesAndRanksAgreeForScatteredRanks) {
  const ChannelPlan plan = Sample();
  EXPECT_EQ(plan.PlaceOf(Rank{3}), (NodePlace{0, 2}));
  EXPECT_EQ(plan.PlaceOf(Rank{2}), (NodePlace{1, 0}));
  EXPECT_EQ(plan.PlaceOf(Rank{6}), (NodePlace{2, 2}));
  for (std::uint32_t i = 0; i < plan.rank_count(); ++i)
    EXPECT_EQ(plan.RankAt(plan.PlaceOf(Rank{i})), Rank{i});
}

TEST(ChannelPlanTest, OddNodesMayExchangeNeighbouringChannels) {
  NodeShape shape{2, {{0, 1}, {1, 0}}, {{.order = {0, 1}}, {.order = {1, 0}}}};
  ChannelPlan plan(Sped(2, 2, 2, true), {shape});
  plan.AddNodes(0, 4, Rank{0});
  EXPECT_THAT(plan.Ring(0),
              ElementsAre(Rank{0}, Rank{1}, Rank{3}, Rank{2}, Rank{4}, Rank{5}, Rank{7}, Rank{6}));
  EXPECT_EQ(plan.At(Rank{3}, 0).previous, Rank{1});
}

// Compares At() of every rank with the whole rings and trees.
void ExpectOneView(const ChannelPlan& plan) {
  for (std::uint32_t channel = 0; channel < plan.channel_count(); ++channel) {
    const std::vector<Rank> ring = plan.Ring(channel);
    const std::vector<std::optional<Rank>> parents = TreeParents(plan, channel);
    EXPECT_EQ(std::count(parents.begin(), parents.end(), std::nullopt), 1);
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Neighbours mine = plan.At(ring[i], channel);
      EXPECT_EQ(mine.next, ring[(i + 1) % ring.size()]);
      EXPECT_EQ(mine.previous, ring[(i + ring.size() - 1) % ring.size()]);
      std::size_t below = 0;
      for (const std::optional<Rank>& down : mine.down) {
        if (!down) break;
        EXPECT_EQ(parents[Index(*down)], ring[i]);
        ++below;
      }
      EXPECT_EQ(below,
                static_cast<std::size_t>(std::count(parents.begin(), parents.end(), ring[i])));
    }
  }
}

TEST(ChannelPlanTest, NeighboursOfRanksMatchWholeRingsAndTrees) {
  ExpectOneView(Sample());
}

TEST(ChannelPlanTest, RandomPlansAreConsistent) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Prng dice(seed);
    const auto nodes = static_cast<std::uint32_t>(1 + dice.Below(9));
    const auto ranks = static_cast<std::uint32_t>(1 + dice.Below(5));
    NodeShape shape{ranks, {{}, {}}, {{}, {}}};
    for (std::uint32_t i = 0; i < ranks; ++i) {
      shape.rings[0].push_back(i);
      shape.rings[1].push_back(ranks - 1 - i);
    }
    shape.trees[0] = {.order = shape.rings[1], .to_children = {ranks > 1 ? 1u : 0u, 0}};
    shape.trees[1] = {.order = shape.rings[0]};
    ChannelPlan plan(Sped(2, 4, 2, seed % 2 == 0), {shape});
    // Deals ranks to nodes one at a time, or in blocks.
    for (std::uint32_t node = 0; node < nodes; ++node) {
      std::vector<Rank> its;
      for (std::uint32_t i = 0; i < ranks; ++i)
        its.push_back(Rank{seed % 3 == 0 ? i * nodes + node : node * ranks + i});
      plan.AddNode(0, its);
    }
    plan.Finish();
    ASSERT_TRUE(plan.Check().ok()) << seed;
    ExpectOneView(plan);
  }
}

TEST(ChannelPlanTest, RingAndTreeCountsMayDiffer) {
  const NodeShape shape{2,
                        {{0, 1}},
                        {LocalTree{.order = {0, 1}}, LocalTree{.order = {1, 0}},
                         LocalTree{.order = {0, 1}, .to_children = {1, 1}}}};
  ChannelPlan plan({.rings = {{9'000}},
                    .trees = {{4'000}, {4'000}, {5'000}},
                    .ring_channels = 2,
                    .tree_channels = 6,
                    .channels_of_a_tree = 3},
                   {shape});
  plan.AddNodes(0, 3, Rank{0});
  plan.Finish();
  EXPECT_TRUE(plan.Check().ok());
  EXPECT_EQ(plan.channel_count(), 6u);
  EXPECT_EQ(plan.counts(), (ChannelCounts{2, 6}));
  EXPECT_EQ(plan.ring_bandwidth().mb_per_s, 9'000u);
  EXPECT_EQ(plan.speed(5), (ChannelSpeed{{9'000}, {5'000}}));
  EXPECT_EQ(plan.Ring(0), plan.Ring(5));
  EXPECT_EQ(plan.At(Rank{0}, 1).up, Rank{1}) << "the second tree begins with the second rank";
  ExpectOneView(plan);
  ChannelPlan::Options fewer = plan.options();
  fewer.trees.pop_back();
  ChannelPlan missing(fewer, {shape});
  missing.AddNodes(0, 3, Rank{0});
  EXPECT_THAT(missing.Check().error().message, HasSubstr("1 rings and 3 trees"));
}

TEST(ChannelPlanTest, TwelveThousandNodesTakeAFewHundredBytes) {
  NodeShape shape{8, {{0, 1, 2, 3, 4, 5, 6, 7}}, {{.order = {0, 1, 2, 3, 4, 5, 6, 7}}}};
  ChannelPlan plan(Sped(1, 2, 1, false), {shape});
  plan.AddNodes(0, 12'500, Rank{0});
  EXPECT_EQ(plan.rank_count(), 100'000u);
  EXPECT_LT(plan.bytes(), 700u);
  EXPECT_EQ(plan.At(Rank{99'999}, 0).next, Rank{0});
  EXPECT_TRUE(plan.Check().ok());
}

TEST(ChannelPlanTest, CheckRequiresEveryRankOnce) {
  const auto check = [](const NodeShape& shape, std::vector<Rank> ranks) {
    ChannelPlan plan(Sped(1, 1, 1, false), {shape});
    plan.AddNode(0, ranks);
    plan.Finish();
    const Status status = plan.Check();
    return status.ok() ? std::string() : status.error().message;
  };
  const NodeShape good{2, {{1, 0}}, {{.order = {0, 1}}}};
  EXPECT_EQ(check(good, {Rank{0}, Rank{1}}), "");
  NodeShape bad = good;
  bad.rings[0] = {1, 1};
  EXPECT_THAT(check(bad, {Rank{0}, Rank{1}}), HasSubstr("channel 0 does not visit each of 2"));
  bad = good;
  bad.trees[0].order = {0};
  EXPECT_THAT(check(bad, {Rank{0}, Rank{1}}), HasSubstr("tree of channel 0"));
  bad = good;
  bad.trees[0].above = {1};
  EXPECT_THAT(check(bad, {Rank{0}, Rank{1}}), HasSubstr("tree of channel 0"));
  bad = good;
  bad.groups = {{0}};
  EXPECT_THAT(check(bad, {Rank{0}, Rank{1}}), HasSubstr("groups"));
  EXPECT_THAT(check(good, {Rank{0}, Rank{2}}), HasSubstr("rank 2"));
  EXPECT_FALSE(ChannelPlan().Check().ok());
}

TEST(ChannelPlanTest, ConsecutiveRanksEqualABlock) {
  const NodeShape shape{2, {{0, 1}}, {{.order = {0, 1}}}};
  ChannelPlan named(Sped(1, 1, 1, false), {shape}), block = named;
  for (std::uint32_t i = 0; i < 6; i += 2) named.AddNode(0, std::vector{Rank{i}, Rank{i + 1}});
  block.AddNodes(0, 3, Rank{0});
  named.Finish();
  block.Finish();
  EXPECT_EQ(named, block);
  EXPECT_EQ(named.digest(), block.digest());
}

TEST(ChannelPlanTest, DigestCoversOrderSpeedRanksAndLeaders) {
  const std::uint64_t digest = Sample().digest();
  EXPECT_EQ(digest, Sample().digest());
  EXPECT_NE(digest, Sample(true).digest());
  ChannelPlan longer = Sample();
  longer.AddNode(1, std::vector{Rank{7}});
  EXPECT_NE(digest, longer.digest());
}

TEST(ChannelPlanTest, HostsAndNumaNodesHaveLeaders) {
  const Leaders leaders = LeadersOf(Sample(), Rank{1});
  EXPECT_EQ(leaders.host, Rank{3});
  EXPECT_THAT(leaders.ranks, ElementsAre(Rank{0}, Rank{1}, Rank{3}));
  EXPECT_THAT(leaders.groups, ElementsAre(ElementsAre(Rank{0}, Rank{3}), ElementsAre(Rank{1})));
}

TEST(ChannelPlanTest, NeighboursOccurOnceAndExcludeTheRankItself) {
  EXPECT_THAT(Sample().RingNeighboursOf(Rank{2}), ElementsAre(Rank{0}, Rank{1}, Rank{4}, Rank{5}));
  ChannelPlan alone(Sped(1, 1, 1, false), {{1, {{0}}, {{.order = {0}}}}});
  alone.AddNodes(0, 1, Rank{0});
  EXPECT_THAT(alone.RingNeighboursOf(Rank{0}), ElementsAre());
  EXPECT_EQ(alone.At(Rank{0}, 0).next, Rank{0});
}

}  // namespace
}  // namespace ringlet::plan
