#include "topology/graph/graph.hpp"

#include <gmock/gmock.h>

namespace ringlet::topology {

/// Corrupts graphs on purpose.
struct GraphTestPeer {
  static std::vector<Node>& Nodes(Graph& graph) { return graph.nodes_; }
  static auto& Ranks(Graph& graph) { return graph.ranks_; }
};

namespace {

using testing::HasSubstr;

HostView Host(std::string name, std::uint64_t identity) {
  return {.name = std::move(name),
          .identity = identity,
          .cpu = {"x86_64", "AuthenticAMD", 25, 1, ""},
          .numa_nodes = {{0, CpuSet::Of(0, 3), 0, {}}, {2, CpuSet::Of(4, 7), 0, {}}},
          .nets = {{"eth0", 100'000, 2}, {"eth1", std::nullopt, std::nullopt}}};
}

Graph SampleGraph() {
  const std::vector<HostView> hosts = {Host("a", 1), Host("b", 2)};
  const std::vector<RankPlace> ranks = {
      {Rank{2}, 1, 0}, {Rank{1}, 0, 2}, {Rank{0}, 0, 0}, {Rank{3}, 1, 0}};
  return Build(hosts, ranks).value();
}

std::string GraphErrorOf(const std::vector<HostView>& hosts, const std::vector<RankPlace>& ranks) {
  const Result<Graph> graph = Build(hosts, ranks);
  if (graph.ok()) return "no error";
  EXPECT_EQ(graph.error().code, Code::kInvalidArgument);
  return graph.error().message;
}

TEST(GraphTest, TextShowsNodesAndLinks) {
  const std::vector<HostView> hosts = {Host("a", 1)};
  const std::vector<RankPlace> ranks = {{Rank{0}, 0, 2}};
  EXPECT_EQ(ToText(Build(hosts, ranks).value()),
            "ringlet-graph 1\n"
            "host \"a\"\n"
            "  numa 0\n"
            "    socket 16000 MB/s to numa 2\n"
            "    network 1250 MB/s to net \"eth1\"\n"
            "  numa 2\n"
            "    socket 16000 MB/s to numa 0\n"
            "    network 12500 MB/s to net \"eth0\"\n"
            "    memory 17000 MB/s to rank 0\n"
            "  net \"eth0\"\n"
            "    network 12500 MB/s to numa 2\n"
            "  net \"eth1\"\n"
            "    network 1250 MB/s to numa 0\n"
            "  rank 0\n"
            "    memory 17000 MB/s to numa 2\n");
}

TEST(GraphTest, RanksAreAtTheirPlaces) {
  const Graph graph = SampleGraph();
  EXPECT_TRUE(graph.Check().ok());
  EXPECT_EQ(graph.rank_count(), 4u);
  EXPECT_EQ(graph.at(Rank{1}).host, 0u);
  EXPECT_EQ(graph.at(graph.at(Rank{1}).links[0].to).number, 2u);
  EXPECT_EQ(graph.at(Rank{3}).host, 1u);
}

TEST(GraphTest, TheGraphDoesNotDependOnTheOrderOfPlaces) {
  const std::vector<HostView> hosts = {Host("a", 1), Host("b", 2)};
  const std::vector<RankPlace> ranks = {
      {Rank{0}, 0, 0}, {Rank{1}, 0, 2}, {Rank{2}, 1, 0}, {Rank{3}, 1, 0}};
  EXPECT_EQ(ToText(Build(hosts, ranks).value()), ToText(SampleGraph()));
}

TEST(GraphTest, AHostWithoutInterfacesReachesTheOthers) {
  HostView host = Host("a", 1);
  host.nets.clear();
  const std::vector<RankPlace> ranks = {{Rank{0}, 0, 0}};
  EXPECT_THAT(ToText(Build(std::vector{host}, ranks).value()),
              HasSubstr("network 1250 MB/s to net \"unknown\""));
}

TEST(GraphTest, ErrorsDescribeInvalidInput) {
  const HostView a = Host("a", 1), b = Host("b", 2);
  EXPECT_THAT(GraphErrorOf({}, {{Rank{0}, 0, 0}}), HasSubstr("hosts, not 0"));
  EXPECT_THAT(GraphErrorOf({a}, {}), HasSubstr("ranks, not 0"));
  EXPECT_THAT(GraphErrorOf({a, Host("c", 1)}, {{Rank{0}, 0, 0}}),
              HasSubstr("hosts \"a\" and \"c\" have the same identity"));
  EXPECT_THAT(GraphErrorOf({a, b}, {{Rank{0}, 2, 0}}), HasSubstr("rank 0 is on host 2 of 2"));
  EXPECT_THAT(GraphErrorOf({a}, {{Rank{0}, 0, 1}}),
              HasSubstr("NUMA node 1, which host \"a\" lacks"));
  EXPECT_THAT(GraphErrorOf({a}, {{Rank{0}, 0, 0}, {Rank{0}, 0, 0}}),
              HasSubstr("rank 0 is placed twice"));
  EXPECT_THAT(GraphErrorOf({a}, {{Rank{0}, 0, 0}, {Rank{2}, 0, 0}}),
              HasSubstr("rank 1 of 2 is not placed"));
  HostView bad = a;
  bad.numa_nodes.clear();
  EXPECT_THAT(GraphErrorOf({bad}, {{Rank{0}, 0, 0}}), HasSubstr("host \"a\": "));
}

TEST(GraphTest, CheckFindsBrokenGraphs) {
  const auto why = [](auto change) {
    Graph graph = SampleGraph();
    change(graph);
    const Status status = graph.Check();
    return status.ok() ? std::string("no error") : status.error().message;
  };
  using Peer = GraphTestPeer;
  EXPECT_EQ(why([](Graph&) {}), "no error");
  EXPECT_THAT(why([](Graph& g) { Peer::Nodes(g)[0].host = 1; }), HasSubstr("outside its host"));
  EXPECT_THAT(why([](Graph& g) { Peer::Nodes(g)[2].links.clear(); }), HasSubstr("one link"));
  EXPECT_THAT(why([](Graph& g) { Peer::Nodes(g)[2].links[0].bandwidth = {}; }),
              HasSubstr("without bandwidth"));
  EXPECT_THAT(why([](Graph& g) { Peer::Nodes(g)[2].links[0].bandwidth = {1}; }),
              HasSubstr("equal one back"));
  EXPECT_THAT(why([](Graph& g) { Peer::Nodes(g)[0].links.erase(Peer::Nodes(g)[0].links.begin()); }),
              HasSubstr("equal one back"));
  EXPECT_THAT(why([](Graph& g) { Peer::Nodes(g)[0].links.push_back(Peer::Nodes(g)[0].links[0]); }),
              HasSubstr("two equal links"));
  EXPECT_THAT(why([](Graph& g) { Peer::Nodes(g)[0].links[0].to = NodeIndex{7}; }),
              HasSubstr("out of its host"));
  EXPECT_THAT(why([](Graph& g) { Peer::Nodes(g)[0].links[0].kind = LinkKind::kMemory; }),
              HasSubstr("a link of a kind"));
  EXPECT_THAT(why([](Graph& g) { std::swap(Peer::Ranks(g)[0].second, Peer::Ranks(g)[1].second); }),
              HasSubstr("index of its rank"));
}

}  // namespace
}  // namespace ringlet::topology
