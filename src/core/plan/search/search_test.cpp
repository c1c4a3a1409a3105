#include "plan/search/search.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/value/prng.hpp"

namespace ringlet::plan {
namespace {

using testing::HasSubstr;
using topology::CpuSet;
using topology::Graph;
using topology::HostView;
using topology::RankPlace;

constexpr std::uint32_t kNumaNodes = 2;

HostView SearchedHost(std::uint32_t number) {
  return {.name = "host-" + std::to_string(number),
          .identity = number + 1,
          .cpu = {"x86_64", "GenuineIntel", 6, 0x55, ""},
          .numa_nodes = {{0, CpuSet::Of(0, 3), 0, {}}, {1, CpuSet::Of(4, 7), 0, {}}},
          .nets = {{"eth0", 25'000, 0}, {"eth1", 100'000, 1}}};
}

/// Distributes `ranks` to hosts and NUMA nodes by `seed`. Orders the hosts by `order_seed`.
Graph Random(std::uint32_t hosts, std::uint32_t ranks, std::uint64_t seed,
             std::uint64_t order_seed) {
  std::vector<std::uint32_t> position(hosts);
  for (std::uint32_t i = 0; i < hosts; ++i) position[i] = i;
  Prng order(order_seed);
  for (std::uint32_t i = hosts; i > 1; --i) std::swap(position[i - 1], position[order.Below(i)]);
  std::vector<HostView> views(hosts);
  for (std::uint32_t i = 0; i < hosts; ++i) views[position[i]] = SearchedHost(i);
  std::vector<RankPlace> places;
  Prng deal(seed);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const std::uint32_t host = position[deal.Below(hosts)];
    places.push_back({Rank{i}, host, static_cast<std::uint32_t>(deal.Below(kNumaNodes))});
  }
  return topology::Build(views, places).value();
}

ChannelPlan Plan(const Graph& graph) {
  return Search(graph, {}).value();
}

TEST(SearchTest, HostsAreSortedByLowestRankAndEnteredNearTheNetwork) {
  const std::vector<HostView> hosts = {SearchedHost(0), SearchedHost(1)};
  const std::vector<RankPlace> places = {
      {Rank{0}, 1, 1}, {Rank{1}, 0, 0}, {Rank{2}, 1, 0}, {Rank{3}, 0, 0}, {Rank{4}, 1, 1}};
  const Graph graph = topology::Build(hosts, places).value();
  EXPECT_EQ(ToText(Plan(graph)), "channel 0: 10000 MB/s, ring 0 4 2 1 3\n");
  EXPECT_EQ(ToText(Search(graph, {.plain = true}).value()),
            "channel 0: 10000 MB/s, ring 2 0 4 1 3\n");
}

// Four NUMA nodes, with the network at the third.
HostView Wide(std::uint32_t number, std::vector<topology::NetInterface> nets) {
  HostView host = SearchedHost(number);
  host.numa_nodes = {{0, CpuSet::Of(0, 1), 0, {}},
                     {1, CpuSet::Of(2, 3), 0, {}},
                     {2, CpuSet::Of(4, 5), 0, {}},
                     {3, CpuSet::Of(6, 7), 0, {}}};
  host.nets = std::move(nets);
  return host;
}

std::vector<RankPlace> OneANode(std::uint32_t hosts) {
  std::vector<RankPlace> places;
  for (std::uint32_t i = 0; i < 4 * hosts; ++i) places.push_back({Rank{i}, i / 4, i % 4});
  return places;
}

TEST(SearchTest, ARingBeginsAtTheNumaNodeOfTheNic) {
  const std::vector<HostView> hosts = {Wide(0, {{"eth0", 50'000, 2}}),
                                       Wide(1, {{"eth0", 50'000, 2}})};
  const ChannelPlan plan = Plan(topology::Build(hosts, OneANode(2)).value());
  EXPECT_EQ(ToText(plan), "channel 0: 6250 MB/s, ring 2 3 0 1 6 7 4 5\n");
  const Leaders leaders = LeadersOf(plan, Rank{7});
  EXPECT_EQ(leaders.host, Rank{6});
  EXPECT_EQ(leaders.groups.size(), 4u);
  EXPECT_EQ(plan.At(Rank{2}, 0).up, std::nullopt);
  EXPECT_EQ(plan.At(Rank{6}, 0).up, Rank{2});
}

TEST(SearchTest, TwoInterfacesCarryTwoOppositeRings) {
  const std::vector<topology::NetInterface> nets = {{"eth0", 50'000, 0}, {"eth1", 50'000, 3}};
  const std::vector<HostView> hosts = {Wide(0, nets), Wide(1, nets)};
  const Graph graph = topology::Build(hosts, OneANode(2)).value();
  const ChannelPlan plan = Plan(graph);
  EXPECT_EQ(ToText(plan),
            "channel 0: 6250 MB/s, ring 0 1 2 3 4 5 6 7\n"
            "channel 1: 6250 MB/s, ring 3 2 1 0 7 6 5 4\n");
  EXPECT_EQ(plan.ring_bandwidth().mb_per_s, 12'500u);
  EXPECT_TRUE(plan.Check().ok());
  EXPECT_EQ(Search(graph, {.plain = true})->channel_count(), 1u);
  EXPECT_EQ(Search(graph, {.channels_max = 1})->channel_count(), 1u);
  EXPECT_EQ(Search(graph, {.channels_min = 4})->channel_count(), 4u);
}

TEST(SearchTest, BandwidthIsAtLeastThatOfThePlainRing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = Random(static_cast<std::uint32_t>(1 + seed % 5), 40, seed, 0);
    EXPECT_GE(Plan(graph).ring_bandwidth(), Search(graph, {.plain = true})->ring_bandwidth())
        << seed;
  }
}

TEST(SearchTest, TheNarrowestHopLimitsTheBandwidth) {
  const auto bandwidth = [](const std::vector<HostView>& hosts,
                            const std::vector<RankPlace>& places) {
    return Plan(topology::Build(hosts, places).value()).speed(0).ring.mb_per_s;
  };
  EXPECT_EQ(bandwidth({SearchedHost(0)}, {{Rank{0}, 0, 0}, {Rank{1}, 0, 0}}), 17'000u);
  EXPECT_EQ(bandwidth({SearchedHost(0)}, {{Rank{0}, 0, 0}, {Rank{1}, 0, 1}}), 10'000u);
  EXPECT_EQ(bandwidth({SearchedHost(0), SearchedHost(1)}, {{Rank{0}, 0, 1}, {Rank{1}, 1, 1}}),
            12'500u);
  EXPECT_EQ(bandwidth({SearchedHost(0), SearchedHost(1)}, {{Rank{0}, 0, 1}, {Rank{1}, 1, 0}}),
            10'000u);
}

TEST(SearchTest, ASingleRankIsARingOfItself) {
  const Graph graph = Random(1, 1, 1, 1);
  EXPECT_EQ(ToText(Plan(graph)), "channel 0: 17000 MB/s, ring 0\n");
}

TEST(SearchTest, EveryRingIsAPermutationForAnyOrderOfHosts) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto hosts = static_cast<std::uint32_t>(1 + seed % 9);
    const auto ranks = static_cast<std::uint32_t>(1 + seed * 7 % 40);
    const ChannelPlan plan = Plan(Random(hosts, ranks, seed, 0));
    EXPECT_TRUE(plan.Check().ok()) << seed;
    EXPECT_EQ(plan.Ring(0).size(), ranks) << seed;
    for (std::uint64_t order = 1; order < 4; ++order)
      EXPECT_EQ(Plan(Random(hosts, ranks, seed, order)), plan) << seed << " " << order;
  }
}

TEST(SearchTest, EachHostAndNumaNodeIsVisitedOnce) {
  const Graph graph = Random(7, 200, 5, 0);
  const std::vector<Rank> ring = Plan(graph).Ring(0);
  std::vector<std::uint32_t> groups;
  for (const Rank rank : ring) {
    const std::uint32_t group = Index(graph.at(rank).links[0].to);
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  }
  EXPECT_EQ(groups.size(), 14u);
  std::sort(groups.begin(), groups.end());
  EXPECT_EQ(std::adjacent_find(groups.begin(), groups.end()), groups.end());
}

TEST(SearchTest, PlansAThousandRanksOnASingleHostAndOnMany) {
  for (const std::uint32_t hosts : {1u, 125u, 1000u})
    EXPECT_TRUE(Plan(Random(hosts, 1000, 3, 0)).Check().ok()) << hosts;
}

TEST(SearchTest, TheDigestIsTheSameOnEveryMachine) {
  EXPECT_EQ(Plan(Random(4, 32, 1, 0)).digest(), 5059449101502528833u);
}

TEST(SearchTest, RefusesMoreRanksThanItsLimit) {
  const Result<ChannelPlan> plan = Search(Random(1, 3, 1, 1), {.ranks_max = 2});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, Code::kUnsupported);
  EXPECT_THAT(plan.error().message, HasSubstr("limited to 2 ranks, not 3"));
}

}  // namespace
}  // namespace ringlet::plan
