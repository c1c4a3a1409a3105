#include "plan/channels/join.hpp"

#include <gmock/gmock.h>

#include <set>

#include "plan/channels/tree_parents_for_test.hpp"

namespace ringlet::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using topology::PathType;

std::vector<std::uint32_t> From(std::uint32_t first, std::uint32_t devices, bool down) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < devices; ++i)
    order.push_back((first + (down ? devices - i : i)) % devices);
  return order;
}

PatternGraph PatternOf(GraphId id, Pattern pattern, std::uint32_t intra, std::uint32_t inter) {
  PatternGraph graph;
  graph.id = id;
  graph.pattern = pattern;
  graph.intra = {intra};
  graph.inter = {inter};
  graph.type_intra = PathType::kNvl;
  graph.type_inter = PathType::kPix;
  return graph;
}

// Eight GPUs on an NVSwitch, with a NIC each. The graphs are NCCL's result for two such hosts.
NodeClass Switched(std::uint32_t channels = 8, std::uint32_t inter = 48'000) {
  NodeClass one;
  one.compute_capability = 90;
  one.plan.devices = one.plan.nics = 8;
  one.plan.multi_node = true;
  PatternGraph& ring = one.plan.of(GraphId::kRing);
  ring = PatternOf(GraphId::kRing, Pattern::kRing, 48'000, inter);
  ring.cross_nic = 2;
  PatternGraph& tree = one.plan.of(GraphId::kTree);
  tree = PatternOf(GraphId::kTree, Pattern::kTree, 48'000, inter);
  PatternGraph& nvls = one.plan.of(GraphId::kNvls);
  nvls = PatternOf(GraphId::kNvls, Pattern::kNvls, 40'000, inter);
  for (std::uint32_t c = 0; c < channels; ++c) {
    ring.channels.push_back({From(c, 8, c % 2 == 0), c, c ^ 1});
    tree.channels.push_back({From(c, 8, false), c, c});
    nvls.channels.push_back({{c}, c, c});
  }
  return one;
}

// Four GPUs on PCIe, one NIC, a balanced tree.
NodeClass Pcie() {
  NodeClass one;
  one.compute_capability = 70;
  one.plan.devices = 4;
  one.plan.nics = 1;
  one.plan.multi_node = true;
  one.plan.of(GraphId::kRing) = PatternOf(GraphId::kRing, Pattern::kRing, 10'000, 10'000);
  one.plan.of(GraphId::kTree) = PatternOf(GraphId::kTree, Pattern::kBalancedTree, 7'000, 7'000);
  for (const GraphId id : {GraphId::kRing, GraphId::kTree})
    one.plan.of(id).channels = {{From(0, 4, false), 0, 0}};
  return one;
}

TEST(JoinTest, TreeCountsMayDifferFromRingCountsIfAllowed) {
  NodeClass one = Pcie();
  PatternGraph& tree = one.plan.of(GraphId::kTree);
  tree.channels.assign(3, tree.channels.front());
  const std::vector<NodeBlock> blocks = {{0, 2, Rank{0}}};
  const JoinedPlan own = Join(std::vector{one}, blocks, {.one_number = false}).value();
  EXPECT_EQ(own.plan.counts(), (ChannelCounts{2, 6}));
  EXPECT_EQ(own.of(GraphId::kTree).channels, 3u);
  EXPECT_TRUE(own.plan.Check().ok());
  const JoinedPlan as_nccl = Join(std::vector{one}, blocks, {}).value();
  EXPECT_EQ(as_nccl.plan.counts(), (ChannelCounts{2, 2}));
  EXPECT_EQ(as_nccl.of(GraphId::kTree).channels, 1u);
  const JoinedPlan most = Join(std::vector{one}, blocks, {.max = 4, .one_number = false}).value();
  EXPECT_EQ(most.plan.counts(), (ChannelCounts{2, 4}));
}

TEST(JoinTest, AChannelDoesNotCrossIsolatedRails) {
  NodeClass one = Pcie(), other = Pcie();
  const std::vector<NodeBlock> blocks = {{0, 1, Rank{0}}, {1, 1, Rank{4}}};
  EXPECT_TRUE(Join(std::vector{one, other}, blocks, {}).ok()) << "every NIC reaches all others";
  one.rails = other.rails = {3};
  EXPECT_TRUE(Join(std::vector{one, other}, blocks, {}).ok()) << "one rail";
  other.rails = {4};
  const auto refused = Join(std::vector{one, other}, blocks, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              HasSubstr("channel 0 of the ring would lead from rail 3 on node 0 to rail 4 "
                        "on node 1"));
  EXPECT_TRUE(Join(std::vector{one}, std::vector<NodeBlock>{{0, 1, Rank{0}}}, {}).ok());
}

TEST(JoinTest, ChannelsOnTheSameRailsInAnotherOrderAreJoined) {
  NodeClass one = Pcie();
  one.plan.nics = 3;
  for (const GraphId id : {GraphId::kRing, GraphId::kTree})
    one.plan.of(id).channels = {
        {From(0, 4, false), 0, 0}, {From(1, 4, false), 1, 1}, {From(2, 4, false), 2, 2}};
  NodeClass other = one;
  one.rails = {5, 6, 7};
  other.rails = {7, 8, 5};
  other.plan.of(GraphId::kRing).channels.pop_back();
  other.plan.of(GraphId::kRing).channels.push_back({From(3, 4, false), 2, 2});
  const std::vector<NodeBlock> blocks = {{0, 1, Rank{0}}, {1, 1, Rank{4}}};
  std::vector<NodeClass> classes = {one, other};
  AlignRails(classes);
  const auto joined = Join(classes, blocks, {});
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined->of(GraphId::kRing).channels, 2u);
  EXPECT_EQ(
      ToText(joined->shortfalls.front()),
      "ring: all nodes get 2 channels on common rails instead of 3, because of node 1 (1 node like "
      "it)");
  const auto& rings = classes[1].plan.of(GraphId::kRing).channels;
  EXPECT_EQ(rings[0], (LocalChannel{From(3, 4, false), 2, 2}));
  EXPECT_EQ(rings[1], (LocalChannel{From(0, 4, false), 0, 0}));
  const std::vector<NodeClass> before = classes;
  AlignRails(classes);
  EXPECT_EQ(classes[0].plan, before[0].plan) << "they are in order";
  EXPECT_EQ(classes[1].plan, before[1].plan);
}

JoinedPlan JoinedOf(const std::vector<NodeClass>& classes, const std::vector<NodeBlock>& blocks) {
  return Join(classes, blocks, {}).value();
}

std::vector<std::uint32_t> Numbers(const std::vector<Rank>& ranks) {
  std::vector<std::uint32_t> numbers;
  for (const Rank rank : ranks) numbers.push_back(Index(rank));
  return numbers;
}

// Source  a run of NCCL 2.30 on two hosts of this machine
TEST(JoinTest, TwoSwitchedHostsMatchNccl) {
  const JoinedPlan joined = JoinedOf({Switched()}, {{0, 2, Rank{0}}});
  EXPECT_EQ(joined.plan.channel_count(), 16u);
  EXPECT_THAT(Numbers(joined.plan.Ring(0)),
              ElementsAre(0, 7, 6, 5, 4, 3, 2, 1, 9, 10, 11, 12, 13, 14, 15, 8));
  const Neighbours root = joined.plan.At(Rank{0}, 0);
  EXPECT_EQ(root.up, std::nullopt);
  EXPECT_EQ(root.down[0], Rank{1});
  EXPECT_EQ(root.down[1], Rank{8});
  EXPECT_EQ(joined.plan.At(Rank{8}, 8).up, std::nullopt);
}

// Source  a run of NCCL 2.30 on two hosts of this machine
TEST(JoinTest, TwoPcieHostsMatchNccl) {
  const JoinedPlan joined = JoinedOf({Pcie()}, {{0, 2, Rank{0}}});
  EXPECT_EQ(joined.plan.channel_count(), 2u);
  EXPECT_THAT(Numbers(joined.plan.Ring(1)), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(joined.plan.At(Rank{0}, 0).down[0], Rank{1});
  EXPECT_EQ(joined.plan.At(Rank{0}, 0).down[1], Rank{4});
  EXPECT_EQ(joined.plan.At(Rank{4}, 0).up, Rank{0});
  EXPECT_EQ(joined.plan.At(Rank{4}, 1).up, std::nullopt);
  EXPECT_EQ(joined.plan.At(Rank{4}, 1).down[0], Rank{5});
  EXPECT_EQ(joined.plan.At(Rank{4}, 1).down[1], Rank{0});
}

// In a balanced tree, the second GPU serves the first child, and the first GPU the second child.
TEST(JoinTest, ABalancedTreeLeavesTheHostFromTwoGpus) {
  const JoinedPlan joined = JoinedOf({Pcie()}, {{0, 5, Rank{0}}});
  // Node 2 has children 1 and 3 and parent 4.
  EXPECT_EQ(joined.plan.At(Rank{4}, 0).up, Rank{9});
  EXPECT_EQ(joined.plan.At(Rank{12}, 0).up, Rank{8});
  EXPECT_EQ(joined.plan.At(Rank{9}, 0).down[1], Rank{4});
}

// Checks that every node is a leaf of one tree, rings are permutations, and trees span all ranks.
void ExpectSound(const JoinedPlan& joined) {
  const ChannelPlan& plan = joined.plan;
  ASSERT_TRUE(plan.Check().ok());
  for (std::uint32_t channel = 0; channel < plan.channel_count(); ++channel) {
    const auto ring = Numbers(plan.Ring(channel));
    const std::set<std::uint32_t> once(ring.begin(), ring.end());
    EXPECT_EQ(once.size(), plan.rank_count());
    const auto parents = TreeParents(plan, channel);
    for (std::uint32_t i = 0; i < plan.rank_count(); ++i) {
      std::uint32_t at = i, steps = 0;
      while (parents[at] && steps <= plan.rank_count()) at = Index(*parents[at]), ++steps;
      EXPECT_LE(steps, plan.rank_count()) << "a circle above rank " << i;
    }
  }
}

TEST(JoinTest, UpToEightHostsHaveValidPlans) {
  for (std::uint32_t hosts = 1; hosts <= 8; ++hosts) {
    ExpectSound(JoinedOf({Switched()}, {{0, hosts, Rank{0}}}));
    ExpectSound(JoinedOf({Pcie()}, {{0, hosts, Rank{0}}}));
  }
}

TEST(JoinTest, DifferentHostsGetTheCommonMinimumAndAreReported) {
  const JoinedPlan joined = JoinedOf({Switched(), Switched(2, 24'000)},
                                     {{0, 3, Rank{0}}, {1, 1, Rank{24}}, {0, 2, Rank{32}}});
  ExpectSound(joined);
  EXPECT_EQ(joined.of(GraphId::kRing).channels, 2u);
  EXPECT_EQ(joined.plan.speed(0).ring.mb_per_s, 24'000u);
  ASSERT_GE(joined.shortfalls.size(), 2u);
  EXPECT_EQ(ToText(joined.shortfalls[0]),
            "ring: all nodes get 2 channels instead of 8, because of node 3 (1 node like it)");
  EXPECT_THAT(ToText(joined.shortfalls[1]), HasSubstr("24000 MB/s of a channel between nodes"));
}

TEST(JoinTest, UnevenHostsAndHostsWithAGpuAreJoined) {
  NodeClass one;
  one.plan.devices = 1;
  one.plan.of(GraphId::kRing) = PatternOf(GraphId::kRing, Pattern::kRing, 5'000'000, 12'000);
  one.plan.of(GraphId::kTree) = PatternOf(GraphId::kTree, Pattern::kTree, 5'000'000, 12'000);
  for (const GraphId id : {GraphId::kRing, GraphId::kTree})
    one.plan.of(id).channels = {{{0}, 0, 0}};
  const JoinedPlan joined = JoinedOf({Pcie(), one}, {{0, 2, Rank{0}}, {1, 3, Rank{8}}});
  ExpectSound(joined);
  EXPECT_EQ(joined.plan.rank_count(), 11u);
  ExpectSound(JoinedOf({one}, {{0, 7, Rank{0}}}));
}

TEST(JoinTest, ChannelsAreDoubledWithinLimits) {
  const auto channels = [](const NodeClass& one, std::uint32_t nodes, ChannelLimits limits) {
    return Join({&one, 1}, std::vector<NodeBlock>{{0, nodes, Rank{0}}}, limits)
        .value()
        .plan.channel_count();
  };
  EXPECT_EQ(channels(Switched(), 1, {}), 16u);
  EXPECT_EQ(channels(Switched(2), 1, {}), 4u);
  EXPECT_EQ(channels(Switched(2), 2, {}), 8u);  // fast NICs need more
  EXPECT_EQ(channels(Pcie(), 2, {}), 2u);
  EXPECT_EQ(channels(Pcie(), 2, {.min = 12}), 12u);
  EXPECT_EQ(channels(Switched(), 2, {.max = 3}), 3u);
  const NodeClass one = Pcie();
  const std::vector<NodeBlock> blocks = {{0, 2, Rank{0}}};
  for (const ChannelLimits& limits :
       {ChannelLimits{.min = 0}, ChannelLimits{.min = kChannelsMax + 1}, ChannelLimits{.max = 0}})
    EXPECT_FALSE(Join({&one, 1}, blocks, limits).ok());
}

TEST(JoinTest, ErrorsDescribeGraphsThatCannotBeJoined) {
  const auto why = [](const std::vector<NodeClass>& classes, const std::vector<NodeBlock>& blocks) {
    const Result<JoinedPlan> joined = Join(classes, blocks, {});
    return joined.ok() ? std::string() : joined.error().message;
  };
  EXPECT_THAT(why({}, {}), HasSubstr("0 nodes"));
  EXPECT_THAT(why({Pcie()}, {{1, 1, Rank{0}}}), HasSubstr("class 1"));
  EXPECT_THAT(why({Pcie()}, {{0, 1, Rank{0}}, {0, 1, Rank{5}}}), HasSubstr("begins with rank 5"));
  NodeClass broken = Pcie();
  broken.plan.of(GraphId::kRing).channels[0].devices.pop_back();
  EXPECT_THAT(why({broken}, {{0, 1, Rank{0}}}), HasSubstr("visits 3 of 4 devices"));
  broken.plan.of(GraphId::kRing).channels.clear();
  EXPECT_THAT(why({broken}, {{0, 1, Rank{0}}}), HasSubstr("does not have any ring"));
}

TEST(JoinTest, NvlsHasAHeadForEachDevice) {
  const JoinedPlan joined = JoinedOf({Switched()}, {{0, 5, Rank{0}}});
  ASSERT_TRUE(joined.nvls);
  EXPECT_EQ(joined.nvls->count, 8u);
  EXPECT_EQ(joined.nvls->channels, 16u);
  EXPECT_FALSE(JoinedOf({Pcie()}, {{0, 2, Rank{0}}}).nvls);
}

}  // namespace
}  // namespace ringlet::plan
