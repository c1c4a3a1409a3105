#include "plan/search/given_graphs.hpp"

#include <gmock/gmock.h>

#include "plan/channels/tree_parents_for_test.hpp"
#include "plan/search/search.hpp"

namespace ringlet::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using topology::CpuSet;
using topology::Graph;
using topology::HostView;

HostView Host(std::uint32_t number) {
  return {.name = "host-" + std::to_string(number),
          .identity = number + 1,
          .cpu = {"x86_64", "GenuineIntel", 6, 0x55, ""},
          .numa_nodes = {{0, CpuSet::Of(0, 3), 0, {}}, {1, CpuSet::Of(4, 7), 0, {}}},
          .nets = {{"eth0", 25'000, 0}}};
}

/// \param ranks  by host; ranks alternate between its two NUMA nodes
Graph Hosts(const std::vector<std::uint32_t>& ranks) {
  std::vector<HostView> views;
  std::vector<topology::RankPlace> places;
  for (std::uint32_t host = 0; host < ranks.size(); ++host) {
    views.push_back(Host(host));
    for (std::uint32_t i = 0; i < ranks[host]; ++i)
      places.push_back({Rank{static_cast<std::uint32_t>(places.size())}, host, i % 2});
  }
  return topology::Build(views, places).value();
}

std::string GraphXml(int id, int pattern, const std::vector<std::string>& channels) {
  std::string text =
      "<graph id=\"" + std::to_string(id) + "\" pattern=\"" + std::to_string(pattern) +
      "\" crossnic=\"0\" nchannels=\"" + std::to_string(channels.size()) +
      "\" speedintra=\"7\" speedinter=\"2.5\" typeintra=\"SYS\" typeinter=\"SYS\">\n";
  for (const std::string& channel : channels) text += "<channel>" + channel + "</channel>\n";
  return text + "</graph>\n";
}

std::string Gpus(const std::string& attribute, const std::vector<int>& order) {
  std::string text;
  for (const int i : order) text += "<gpu " + attribute + "=\"" + std::to_string(i) + "\"/>";
  return text;
}

Result<ChannelPlan> Given(const Graph& graph, const std::string& graphs, SearchLimits limits = {}) {
  limits.given = {"g.xml", "<graphs version=\"1\">\n" + graphs + "</graphs>\n"};
  return Search(graph, limits);
}

std::vector<std::uint32_t> RankNumbers(const std::vector<Rank>& ranks) {
  std::vector<std::uint32_t> numbers;
  for (const Rank rank : ranks) numbers.push_back(Index(rank));
  return numbers;
}

TEST(GivenGraphsTest, EveryHostFollowsTheChannelsOfTheFile) {
  const Graph graph = Hosts({3, 3});
  const auto plan =
      Given(graph, GraphXml(0, 4, {Gpus("dev", {2, 0, 1}), Gpus("dev", {1, 0, 2})}) +
                       GraphXml(1, 1, {Gpus("dev", {1, 2, 0}), Gpus("dev", {0, 1, 2})}));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(plan->Check().ok());
  ASSERT_EQ(plan->channel_count(), 2u);
  EXPECT_THAT(RankNumbers(plan->Ring(0)), ElementsAre(2, 0, 1, 5, 3, 4));
  EXPECT_THAT(RankNumbers(plan->Ring(1)), ElementsAre(1, 0, 2, 4, 3, 5));
  EXPECT_EQ(plan->speed(0).ring.mb_per_s, 2'500u) << "between hosts the slower of the two";
  EXPECT_EQ(plan->At(Rank{1}, 0).down[0], Rank{2}) << "a tree is a chain in the order of the file";
  EXPECT_EQ(plan->ShapeOf(0).groups, Search(graph, {})->ShapeOf(0).groups);
  const auto alone = Given(Hosts({2}), GraphXml(0, 4, {Gpus("dev", {1, 0})}));
  EXPECT_EQ(alone->speed(0).ring.mb_per_s, 7'000u);
}

TEST(GivenGraphsTest, AFileMayListRanksOfAnyHost) {
  const Graph graph = Hosts({2, 2, 2});
  const auto plan = Given(graph, GraphXml(0, 4, {Gpus("rank", {3, 2})}));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(RankNumbers(plan->Ring(0)), ElementsAre(1, 0, 3, 2, 5, 4));
  EXPECT_EQ(TreeParents(*plan, 0), TreeParents(*Search(graph, {}), 0))
      << "not in the file: as found";
  const auto two = Given(graph, GraphXml(0, 4, {Gpus("rank", {1, 2})}));
  EXPECT_THAT(two.error().message, HasSubstr("g.xml:3:"));
  EXPECT_THAT(two.error().message, HasSubstr("rank is \"2\""));
}

TEST(GivenGraphsTest, AcceptsTreesAloneAndLimitsChannels) {
  const Graph graph = Hosts({2, 2});
  const std::string tree = GraphXml(1, 3, {Gpus("dev", {1, 0}), Gpus("dev", {0, 1})});
  const auto plan = Given(graph, tree);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->Ring(1), Search(graph, {})->Ring(0));
  EXPECT_EQ(plan->speed(0).tree.mb_per_s, 2'500u);
  EXPECT_EQ(Given(graph, tree, {.channels_max = 1})->channel_count(), 1u);
  EXPECT_EQ(Given(graph, tree, {.channels_min = 6})->channel_count(), 6u);
}

TEST(GivenGraphsTest, ErrorsDescribeUnfittingGraphs) {
  const auto why = [](const Graph& graph, const std::string& graphs) {
    const auto plan = Given(graph, graphs);
    return plan.ok() ? std::string("ok") : plan.error().message;
  };
  const std::string two = GraphXml(0, 4, {Gpus("dev", {1, 0})});
  EXPECT_EQ(why(Hosts({2, 2}), two), "ok");
  EXPECT_THAT(why(Hosts({3, 3}), two),
              HasSubstr("g.xml:3:2: this channel has 2 GPUs; it must have 3"));
  EXPECT_THAT(
      why(Hosts({2, 3}), two),
      HasSubstr("g.xml: its channels visit 2 ranks of a host, but the host of rank 2 has 3"));
  EXPECT_THAT(why(Hosts({2}), ""), HasSubstr("neither rings (graph 0) nor trees"));
  EXPECT_THAT(why(Hosts({2}), "<graph"), HasSubstr("g.xml:"));
  EXPECT_EQ(why(Hosts({2}), GraphXml(0, 4, {"<net dev=\"0\"/>" + Gpus("dev", {1, 0})})), "ok");
  EXPECT_THAT(why(Hosts({2}), GraphXml(0, 4, {"<net dev=\"9\"/>" + Gpus("dev", {1, 0})})),
              HasSubstr("dev is \"9\""));
}

TEST(GivenGraphsTest, AWrittenGraphRoundTrips) {
  for (const std::vector<std::uint32_t>& hosts :
       {std::vector<std::uint32_t>{5}, {2, 2, 2}, {4, 4}, {1, 1}}) {
    const Graph graph = Hosts(hosts);
    const ChannelPlan plan = Search(graph, {}).value();
    const Rank last{graph.rank_count() - 1};
    const auto again = Search(graph, {.given = {"again.xml", GraphsOf(plan, last)}});
    ASSERT_TRUE(again.ok()) << again.error().message << GraphsOf(plan, last);
    EXPECT_EQ(ToText(*again), ToText(plan));
    for (std::uint32_t channel = 0; channel < plan.channel_count(); ++channel)
      EXPECT_EQ(TreeParents(*again, channel), TreeParents(plan, channel));
  }
  // A file can describe only a tree without branches.
  EXPECT_THAT(GraphsOf(Search(Hosts({5}), {}).value(), Rank{0}),
              HasSubstr("<graph id=\"1\" pattern=\"1\" crossnic=\"0\" nchannels=\"0\""));
  EXPECT_THAT(GraphsOf(Search(Hosts({2}), {}).value(), Rank{0}),
              HasSubstr("<graph id=\"1\" pattern=\"3\" crossnic=\"0\" nchannels=\"1\""));
}

}  // namespace
}  // namespace ringlet::plan
