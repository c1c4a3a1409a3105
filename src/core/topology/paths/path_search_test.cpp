#include "topology/paths/path_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "topo/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

Graph SearchedGraph(const HostView& view) {
  return Build({&view, 1}, {}, {.gpus = GpuRanks::kAll, .unknown_net = false}).value();
}

NodeIndex SwitchAt(const Graph& graph, std::uint8_t bus) {
  for (const NodeIndex node : graph.NodesOf(graph.systems()[0], NodeKind::kPci))
    if (graph.pci_switch(node).bus == BusId::Of(0, bus, 0, 0)) return node;
  return NodeIndex{};
}

/// A row of three GPUs with NVLinks. The outer GPUs are on different sockets.
HostView Row() {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 70).NvLink(0x12, 1);
  machine.Gpu(0x12, 70).NvLink(0x11, 1).NvLink(0x23, 2);
  machine.Numa(1).Gpu(0x23, 70).NvLink(0x12, 2);
  return machine.view;
}

TEST(PathSearchTest, APathMayPassThroughASingleGpu) {
  const Graph graph = SearchedGraph(Row());
  const Paths paths = FindPaths(graph, 0, {}).value();
  const NodeIndex a = graph.NodeOf(Rank{0}), c = graph.NodeOf(Rank{2});
  EXPECT_EQ(paths.From(a, graph.NodeOf(Rank{1})), (Path{PathType::kNvl, {20'000}, 3}));
  EXPECT_EQ(paths.From(a, c), (Path{PathType::kNvb, {20'000}, 4}));
  EXPECT_EQ(paths.Route(a, c)[1].to, graph.gpu(graph.NodeOf(Rank{1})).device);
  PathOptions options;
  options.nvb = false;
  EXPECT_EQ(FindPaths(graph, 0, options)->From(a, c).type, PathType::kSys);
}

TEST(PathSearchTest, APathMayNotPassThroughTwoGpus) {
  HostView view = Row();
  MachineForTest machine;
  machine.view = view;
  machine.Numa(2).Gpu(0x34, 70).NvLink(0x23, 2);
  machine.view.gpus[2].links.push_back(
      {GpuLinkKind::kNvLink, BusId::Of(0, 0x34, 0, 0), 2, PciClass{0x030200}});
  const Graph graph = SearchedGraph(machine.view);
  const Paths paths = FindPaths(graph, 0, {}).value();
  EXPECT_EQ(paths.From(graph.NodeOf(Rank{0}), graph.NodeOf(Rank{3})).type, PathType::kSys);
}

TEST(PathSearchTest, ABetterTypeWinsOverMoreBandwidth) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 61).NvLink(0x12, 1).Gpu(0x12, 61).NvLink(0x11, 1);
  const Graph graph = SearchedGraph(machine.view);
  const Paths paths = FindPaths(graph, 0, {}).value();
  EXPECT_EQ(paths.From(graph.NodeOf(Rank{0}), graph.NodeOf(Rank{1})),
            (Path{PathType::kNvl, {18'000}, 3}));  // PCIe has 48,000
}

/// The search finds a switch over a wide path through its processor, and later over a narrow path
/// of a better type through other switches. Nodes beyond keep the first path if the type does not
/// matter there.
TEST(PathSearchTest, APathKeepsTheLinksItWasFoundWith) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 80).Switch(0x12).Switch(0x13).Up().Up().Up();
  machine.Switch(0x30).Up().Switch(0x20).Numa(1).Switch(0x40);
  std::vector<PciDevice>& pci = machine.view.pci;
  const auto at = [&](std::uint8_t bus) {
    return std::find_if(pci.begin(), pci.end(),
                        [&](const PciDevice& one) { return one.bus == BusId::Of(0, bus, 0, 0); });
  };
  const auto join = [&](std::uint8_t a, std::uint8_t b) {
    at(a)->peers.push_back(BusId::Of(0, b, 0, 0));
    at(b)->peers.push_back(BusId::Of(0, a, 0, 0));
  };
  at(0x12)->link_width = 1;
  join(0x13, 0x20);
  join(0x20, 0x30);
  join(0x30, 0x40);
  const Graph graph = SearchedGraph(machine.view);
  const Paths paths = FindPaths(graph, 0, {}).value();
  const NodeIndex gpu = graph.NodeOf(Rank{0});
  const NodeIndex far = graph.NodesOf(graph.systems()[0], NodeKind::kCpu)[1];
  EXPECT_EQ(paths.From(SwitchAt(graph, 0x40), gpu).type, PathType::kPxb);
  EXPECT_EQ(paths.From(SwitchAt(graph, 0x40), gpu).bandwidth.mb_per_s, 3'000u);
  const Path path = paths.From(far, gpu);
  EXPECT_EQ(path, (Path{PathType::kPhb, {48'000}, 6}));
  Bandwidth narrowest = kLocalLink;
  const std::vector<Hop> route = paths.Route(far, gpu);
  for (const Hop& hop : route) narrowest = std::min(narrowest, hop.bandwidth);
  EXPECT_EQ(route.size(), path.hops);
  EXPECT_EQ(narrowest, path.bandwidth);
}

TEST(PathSearchTest, EveryRouteHasTheHopsAndBandwidthOfItsPath) {
  MachineForTest machine;
  for (std::uint8_t numa = 0; numa < 4; ++numa) {
    machine.Numa(numa);
    for (std::uint8_t i = 0; i < 2; ++i) {
      const auto bus = static_cast<std::uint8_t>(numa * 0x40 + i * 0x10 + 1);
      machine.Switch(bus).Gpu(static_cast<std::uint8_t>(bus + 1), 80).NvSwitch(i == 0 ? 12 : 0);
      machine.Nic(static_cast<std::uint8_t>(bus + 2), 200'000).Up();
    }
  }
  const Graph graph = SearchedGraph(machine.view);
  const Paths paths = FindPaths(graph, 0, {}).value();
  std::size_t routes = 0;
  for (std::uint32_t from = 0; from < graph.nodes().size(); ++from) {
    for (std::uint32_t to = 0; to < graph.nodes().size(); ++to) {
      const Path path = paths.From(NodeIndex{from}, NodeIndex{to});
      if (path.type == PathType::kDis || from == to) continue;
      const std::vector<Hop> route = paths.Route(NodeIndex{from}, NodeIndex{to});
      ASSERT_EQ(route.size(), path.hops) << from << " " << to;
      Bandwidth narrowest = kLocalLink;
      NodeIndex at{from};
      for (const Hop& hop : route) {
        EXPECT_EQ(hop.from, at);
        at = hop.to;
        narrowest = std::min(narrowest, hop.bandwidth);
      }
      EXPECT_EQ(at, NodeIndex{to});
      EXPECT_EQ(narrowest, path.bandwidth);
      ++routes;
    }
  }
  EXPECT_GT(routes, 1000u);
}

}  // namespace
}  // namespace ringlet::topology
