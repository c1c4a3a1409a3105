#include "topo/paths/labels.hpp"

#include <gmock/gmock.h>

#include "topo/edit/machines_for_test.hpp"
#include "topo/edit/synthetic.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

Graph TwoNumaNodes() {
  const HostView view = ParseSynthetic("2x(numa: 2 gpu, 1 nic)").value();
  return Build({&view, 1}, {}, {.gpus = GpuRanks::kAll, .unknown_net = false}).value();
}

TEST(LabelsTest, EachLabelOfADeviceNamesItsNode) {
  const Graph graph = TwoNumaNodes();
  std::size_t devices = 0;
  for (const NodeKind kind : {NodeKind::kGpu, NodeKind::kNet, NodeKind::kCpu})
    for (const NodeIndex node : graph.NodesOf(graph.systems().front(), kind)) {
      EXPECT_EQ(NodeCalled(graph, LabelOf(graph, node)).value(), node);
      ++devices;
    }
  EXPECT_EQ(devices, 4u + 2u + 2u);
  EXPECT_EQ(LabelOf(graph, NodeCalled(graph, "numa1").value()), "NUMA1");
}

TEST(LabelsTest, AnUnknownNameListsTheParts) {
  EXPECT_THAT(NodeCalled(TwoNumaNodes(), "GPU9").error().message,
              HasSubstr("no part is called \"GPU9\"; the parts are GPU0, GPU1"));
}

TEST(LabelsTest, LongListsOfPartsAreCut) {
  const Graph rack =
      Build(RackForTest(18), {}, {.gpus = GpuRanks::kAll, .unknown_net = false}).value();
  EXPECT_THAT(NodeCalled(rack, "GPU99").error().message, testing::EndsWith(", and more"));
}

}  // namespace
}  // namespace ringlet::topology
