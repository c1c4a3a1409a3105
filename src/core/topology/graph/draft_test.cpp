#include "topology/graph/draft.hpp"

#include <gtest/gtest.h>

namespace ringlet::topology {
namespace {

std::vector<std::uint32_t> Targets(const Graph& graph, std::uint32_t node) {
  std::vector<std::uint32_t> targets;
  for (const Link& link : graph.nodes()[node].links) targets.push_back(Index(link.to));
  return targets;
}

TEST(DraftTest, FasterLinksAreFirstAndEqualLinksKeepTheirOrder) {
  Draft draft;
  draft.AddHost("a", 1);
  const NodeIndex cpu = draft.Add(NodeKind::kCpu, 0, 0, 0);
  const NodeIndex slow = draft.Add(NodeKind::kNic, 0, 0, 1);
  const NodeIndex same = draft.Add(NodeKind::kNic, 0, 0, 2);
  const NodeIndex fast = draft.Add(NodeKind::kNic, 0, 0, 3);
  draft.Join(cpu, slow, LinkKind::kPci, {10});
  draft.Join(cpu, same, LinkKind::kPci, {10});
  draft.Join(cpu, fast, LinkKind::kPci, {20});
  const Graph graph = std::move(draft).Finish();
  EXPECT_EQ(Targets(graph, 0), (std::vector<std::uint32_t>{3, 1, 2}));
}

TEST(DraftTest, AnEqualLinkWidensTheFirstAndMovesItForward) {
  Draft draft;
  draft.AddHost("a", 1);
  const NodeIndex a = draft.Add(NodeKind::kDev, 0, 0, 0);
  const NodeIndex b = draft.Add(NodeKind::kDev, 0, 0, 1);
  const NodeIndex c = draft.Add(NodeKind::kDev, 0, 0, 2);
  draft.Join(a, b, LinkKind::kNvLink, {30});
  draft.Join(a, c, LinkKind::kNvLink, {20});
  draft.Join(a, c, LinkKind::kNvLink, {20});
  const Graph graph = std::move(draft).Finish();
  EXPECT_EQ(Targets(graph, 0), (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(graph.nodes()[0].links[0].bandwidth.mb_per_s, 40u);
}

TEST(DraftTest, TheUpstreamLinkIsLast) {
  Draft draft;
  draft.AddHost("a", 1);
  const NodeIndex cpu = draft.Add(NodeKind::kCpu, 0, 0, 0);
  const NodeIndex bridge = draft.Add(NodeKind::kPci, 0, 0, 1);
  const NodeIndex nic = draft.Add(NodeKind::kNic, 0, 0, 2);
  draft.Join(bridge, cpu, LinkKind::kPci, {50});
  draft.Join(bridge, nic, LinkKind::kPci, {20});
  draft.PutUpstreamLast();
  const Graph graph = std::move(draft).Finish();
  EXPECT_EQ(graph.nodes()[0].kind, NodeKind::kPci);
  EXPECT_EQ(Targets(graph, 0), (std::vector<std::uint32_t>{2, 1}));
}

TEST(DraftTest, NodesAreOrderedBySystemHostAndKind) {
  Draft draft;
  for (const char* name : {"a", "b", "c"}) draft.AddHost(name, static_cast<unsigned char>(*name));
  draft.Add(NodeKind::kRank, 2, 7, 7);
  for (std::uint32_t host = 0; host < 3; ++host) draft.Add(NodeKind::kCpu, host, host, host);
  draft.SameSystem(2, 0);
  const Graph graph = std::move(draft).Finish();
  ASSERT_EQ(graph.hosts().size(), 3u);
  EXPECT_EQ(graph.hosts()[1].name, "c");
  EXPECT_EQ(graph.hosts()[1].system, 0u);
  EXPECT_EQ(graph.hosts()[2].system, 1u);
  ASSERT_EQ(graph.systems().size(), 2u);
  EXPECT_EQ(graph.systems()[0].end, 3u);
  EXPECT_EQ(graph.NodeOf(Rank{7}), NodeIndex{2});
  EXPECT_EQ(graph.at(NodeIndex{1}).number, 2u);
}

TEST(DraftTest, ARemovedNodeLeavesNoLinks) {
  Draft draft;
  draft.AddHost("a", 1);
  const NodeIndex cpu = draft.Add(NodeKind::kCpu, 0, 0, 0);
  const NodeIndex gone = draft.Add(NodeKind::kNic, 0, 0, 1);
  const NodeIndex kept = draft.Add(NodeKind::kNic, 0, 0, 2);
  draft.Join(cpu, gone, LinkKind::kPci, {30});
  draft.Join(cpu, kept, LinkKind::kPci, {20});
  const Graph whole = std::move(draft).Finish();
  Draft again(whole);
  again.Remove(gone);
  const Graph graph = std::move(again).Finish();
  EXPECT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(Targets(graph, 0), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(graph.at(NodeIndex{1}).id, 2u);
  EXPECT_TRUE(graph.Check().ok());
}

}  // namespace
}  // namespace ringlet::topology
