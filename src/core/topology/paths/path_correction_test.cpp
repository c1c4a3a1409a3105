#include "topology/paths/path_correction.hpp"

#include <gtest/gtest.h>

#include "topo/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

Graph CorrectedGraph(const HostView& view) {
  return Build({&view, 1}, {}, {.gpus = GpuRanks::kAll, .unknown_net = false}).value();
}

/// Two switches with a GPU and a NIC each. NVLink joins the GPUs if `nvlink` is true.
HostView Pair(bool nvlink) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 80);
  if (nvlink) machine.NvLink(0x21, 4);
  machine.Nic(0x12, 200'000).Up().Switch(0x20).Gpu(0x21, 80);
  if (nvlink) machine.NvLink(0x11, 4);
  machine.Nic(0x22, 200'000);
  return machine.view;
}

PathType TypeTo(const HostView& view, const PathOptions& options, std::size_t net) {
  const Graph graph = CorrectedGraph(view);
  const Paths paths = FindPaths(graph, 0, options).value();
  return paths.From(graph.NodeOf(Rank{0}), paths.Of(NodeKind::kNet)[net]).type;
}

TEST(PathCorrectionTest, DataForTheNicOfAnotherGpuPassThroughThatGpu) {
  const Graph graph = CorrectedGraph(Pair(true));
  const Paths paths = FindPaths(graph, 0, {}).value();
  const NodeIndex gpu = graph.NodeOf(Rank{0}), net = paths.Of(NodeKind::kNet)[1];
  EXPECT_EQ(paths.From(gpu, net), (Path{PathType::kPxn, {25'000}, 7}));
  EXPECT_EQ(paths.Route(gpu, net)[2].to, graph.NodeOf(Rank{1}));
  EXPECT_EQ(paths.From(net, gpu).type, PathType::kPhb);
  EXPECT_EQ(paths.LocalGpu(net), graph.NodeOf(Rank{1}));
  EXPECT_EQ(TypeTo(Pair(false), {}, 1), PathType::kPhb);
  PathOptions without;
  without.pxn = false;
  EXPECT_EQ(TypeTo(Pair(true), without, 1), PathType::kPhb);
}

TEST(PathCorrectionTest, WiredPathsAreNotCorrected) {
  HostView view = Pair(true);
  for (NetInterface& net : view.nets) net.gdr = false;
  PathOptions options;
  options.as_wired = true;
  EXPECT_EQ(TypeTo(view, options, 0), PathType::kPix);
  EXPECT_EQ(TypeTo(view, options, 1), PathType::kPhb);
}

TEST(PathCorrectionTest, PathsWithoutGpuDirectPassThroughTheProcessor) {
  HostView view = Pair(true);
  EXPECT_EQ(TypeTo(view, {}, 0), PathType::kPix);
  PathOptions options;
  options.gdr_level = PathType::kLoc;
  EXPECT_EQ(TypeTo(view, options, 0), PathType::kPhb);
  for (NetInterface& net : view.nets) net.gdr = false;
  const Graph graph = CorrectedGraph(view);
  const Paths paths = FindPaths(graph, 0, {}).value();
  const NodeIndex gpu = graph.NodeOf(Rank{0}), net = paths.Of(NodeKind::kNet)[0];
  EXPECT_EQ(paths.From(gpu, net), (Path{PathType::kPhb, {25'000}, 6}));
  EXPECT_EQ(paths.From(net, gpu).type, PathType::kPhb);
}

TEST(PathCorrectionTest, PathsOfGpusWithoutPeerAccessPassThroughTheProcessor) {
  MachineForTest machine;
  machine.Numa(0).Switch(0x10).Gpu(0x11, 86).Gpu(0x12, 86);
  const Graph graph = CorrectedGraph(machine.view);
  PathOptions options;
  options.peer_access = [](Rank, Rank) { return false; };
  const NodeIndex a = graph.NodeOf(Rank{0}), b = graph.NodeOf(Rank{1});
  EXPECT_EQ(FindPaths(graph, 0, {})->From(a, b), (Path{PathType::kPix, {48'000}, 4}));
  const Paths paths = FindPaths(graph, 0, options).value();
  EXPECT_EQ(paths.From(a, b), (Path{PathType::kPhb, {48'000}, 6}));
  EXPECT_EQ(paths.Route(a, b)[2].to, paths.Of(NodeKind::kCpu)[0]);
  options.shm = false;
  EXPECT_EQ(FindPaths(graph, 0, options)->From(a, b).type, PathType::kNet);
}

TEST(PathCorrectionTest, ANicOnTheSamePackageIsCloserThanThroughAProcessor) {
  MachineForTest machine;
  machine.Numa(0).Gpu(0x11, 100).C2c(44'712, 10).Nic(0x12, 400'000);
  const HostView view = machine.view;
  EXPECT_EQ(TypeTo(view, {}, 0), PathType::kP2c);
  PathOptions options;
  options.gdr_c2c = false;
  EXPECT_EQ(TypeTo(view, options, 0), PathType::kP2c);
}

}  // namespace
}  // namespace ringlet::topology
