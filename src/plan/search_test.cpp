#include "plan/search.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/prng.hpp"

namespace ringlet::plan {
namespace {

using testing::HasSubstr;
using topology::CpuSet;
using topology::Graph;
using topology::HostView;
using topology::RankPlace;

constexpr std::uint32_t kNumaNodes = 2;

HostView Host(std::uint32_t number) {
  return {.name = "host-" + std::to_string(number),
          .identity = number + 1,
          .cpu = {"x86_64", "GenuineIntel", 6, 0x55, ""},
          .numa_nodes = {{0, CpuSet::Of(0, 3), 0, {}}, {1, CpuSet::Of(4, 7), 0, {}}},
          .nets = {{"eth0", 25'000, 0}, {"eth1", 100'000, 1}}};
}

/// `ranks` dealt out to hosts and NUMA nodes by `seed`, with the hosts in an order by `order_seed`.
Graph Random(std::uint32_t hosts, std::uint32_t ranks, std::uint64_t seed,
             std::uint64_t order_seed) {
  std::vector<std::uint32_t> position(hosts);
  for (std::uint32_t i = 0; i < hosts; ++i) position[i] = i;
  Prng order(order_seed);
  for (std::uint32_t i = hosts; i > 1; --i) std::swap(position[i - 1], position[order.Below(i)]);
  std::vector<HostView> views(hosts);
  for (std::uint32_t i = 0; i < hosts; ++i) views[position[i]] = Host(i);
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

TEST(SearchTest, HostsComeByLowestRankThenNumaNodeThenRank) {
  const std::vector<HostView> hosts = {Host(0), Host(1)};
  const std::vector<RankPlace> places = {
      {Rank{0}, 1, 1}, {Rank{1}, 0, 0}, {Rank{2}, 1, 0}, {Rank{3}, 0, 0}, {Rank{4}, 1, 1}};
  EXPECT_EQ(ToText(Plan(topology::Build(hosts, places).value())),
            "channel 0: 10000 MB/s, ring 2 0 4 1 3\n");
}

TEST(SearchTest, TheNarrowestHopCounts) {
  const auto bandwidth = [](const std::vector<HostView>& hosts,
                            const std::vector<RankPlace>& places) {
    return Plan(topology::Build(hosts, places).value()).channels[0].bandwidth.mb_per_s;
  };
  EXPECT_EQ(bandwidth({Host(0)}, {{Rank{0}, 0, 0}, {Rank{1}, 0, 0}}), 17'000u);
  EXPECT_EQ(bandwidth({Host(0)}, {{Rank{0}, 0, 0}, {Rank{1}, 0, 1}}), 10'000u);
  EXPECT_EQ(bandwidth({Host(0), Host(1)}, {{Rank{0}, 0, 1}, {Rank{1}, 1, 1}}), 12'500u);
  EXPECT_EQ(bandwidth({Host(0), Host(1)}, {{Rank{0}, 0, 1}, {Rank{1}, 1, 0}}), 10'000u);
}

TEST(SearchTest, OneRankIsARingOfItself) {
  const Graph graph = Random(1, 1, 1, 1);
  EXPECT_EQ(ToText(Plan(graph)), "channel 0: 17000 MB/s, ring 0\n");
}

TEST(SearchTest, EveryRingIsAPermutationWhateverTheOrderOfHosts) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto hosts = static_cast<std::uint32_t>(1 + seed % 9);
    const auto ranks = static_cast<std::uint32_t>(1 + seed * 7 % 40);
    const ChannelPlan plan = Plan(Random(hosts, ranks, seed, 0));
    EXPECT_TRUE(plan.Check().ok()) << seed;
    EXPECT_EQ(plan.channels[0].ranks.size(), ranks) << seed;
    for (std::uint64_t order = 1; order < 4; ++order)
      EXPECT_EQ(Plan(Random(hosts, ranks, seed, order)), plan) << seed << " " << order;
  }
}

TEST(SearchTest, EachHostAndNumaNodeIsVisitedInOnePiece) {
  const Graph graph = Random(7, 200, 5, 0);
  const std::vector<Rank> ring = Plan(graph).channels[0].ranks;
  std::vector<std::uint32_t> groups;
  for (const Rank rank : ring) {
    const std::uint32_t group = Index(graph.at(rank).links[0].to);
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  }
  EXPECT_EQ(groups.size(), 14u);
  std::sort(groups.begin(), groups.end());
  EXPECT_EQ(std::adjacent_find(groups.begin(), groups.end()), groups.end());
}

TEST(SearchTest, AThousandRanksOnOneHostAndOnMany) {
  for (const std::uint32_t hosts : {1u, 125u, 1000u})
    EXPECT_TRUE(Plan(Random(hosts, 1000, 3, 0)).Check().ok()) << hosts;
}

TEST(SearchTest, TheDigestIsTheSameOnEveryMachine) {
  EXPECT_EQ(Plan(Random(4, 32, 1, 0)).digest(), 0x53f1dd33def3d99u);
}

TEST(SearchTest, TheLimitIsKept) {
  const Result<ChannelPlan> plan = Search(Random(1, 3, 1, 1), {.ranks_max = 2});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, Code::kUnsupported);
  EXPECT_THAT(plan.error().message, HasSubstr("limited to 2 ranks, not 3"));
}

}  // namespace
}  // namespace ringlet::plan
