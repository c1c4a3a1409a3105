#include "tool/topo/topo_paths.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"
#include "topo/edit/machines_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

PathView Perlmutter() {
  PathRequest request;
  request.source.file = Fixture("topologies/nvidia/perlmutter_a100_nid001056.topo.xml");
  return FindPathView(request, {}).value();
}

TEST(TopoPathsTest, FindsNodesByLabelBusAddressAndNcclName) {
  const PathView view = Perlmutter();
  const topology::NodeIndex gpu = view.graph->NodeOf(Rank{2});
  for (const char* name : {"GPU2", "gpu2", "0000:82:00.0", "GPU/0-82000"})
    EXPECT_EQ(NodeCalled(*view.graph, name).value(), gpu) << name;
  EXPECT_EQ(LabelOf(*view.graph, NodeCalled(*view.graph, "cxi1").value()), "cxi1");
  EXPECT_EQ(LabelOf(*view.graph, NodeCalled(*view.graph, "NUMA3").value()), "NUMA3");
  const auto unknown = NodeCalled(*view.graph, "GPU9");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("no part is called \"GPU9\"; the parts are GPU0"));
}

TEST(TopoPathsTest, AnErrorForAnUnknownNameListsSomeKnownNames) {
  const auto told = [](const std::string& file) {
    PathRequest request;
    request.source.file = Fixture(file);
    return NodeCalled(*FindPathView(request, {}).value().graph, "GPU99").error().message;
  };
  EXPECT_THAT(told("topo-vectors/pcie4-1nic.xml"),
              testing::EndsWith("the parts are GPU0, GPU1, GPU2, GPU3, NUMA0, mlx5_0"));
  EXPECT_THAT(told("topologies/nvidia/dgx_a100_keysight.topo.xml"),
              testing::Not(HasSubstr("and more")));
  const auto rack = topology::Build(topology::RackForTest(18), {},
                                    {.gpus = topology::GpuRanks::kAll, .unknown_net = false});
  EXPECT_THAT(NodeCalled(*rack, "GPU99").error().message, testing::EndsWith(", and more"));
}

TEST(TopoPathsTest, ABusAddressOfANicMeansItsPort) {
  PathRequest request;
  request.source.file = Fixture("topo-vectors/pcie4-1nic.xml");
  const PathView view = FindPathView(request, {}).value();
  EXPECT_EQ(LabelOf(*view.graph, NodeCalled(*view.graph, "0000:13:00.0").value()), "mlx5_0");
}

TEST(TopoPathsTest, ANameOnSeveralHostsNeedsTheHost) {
  PathRequest request;
  request.source.file = Fixture("topo-vectors/mnnvl-2x4.xml");
  const PathView view = FindPathView(request, {}).value();
  EXPECT_THAT(NodeCalled(*view.graph, "NUMA0").error().message,
              HasSubstr("name one with its host"));
  EXPECT_TRUE(NodeCalled(*view.graph, "0x5001/NUMA0").ok());
}

TEST(TopoPathsTest, ReportsGpusThatTheFileLacks) {
  PathRequest request;
  request.source.file = Fixture("topologies/nvidia/ndv4.topo.xml");
  EXPECT_THAT(FindPathView(request, {})->missing,
              testing::ElementsAre(HasSubstr("8 GPUs with only a PCI function")));
  request.source.file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  EXPECT_TRUE(FindPathView(request, {})->missing.empty());
}

TEST(TopoPathsTest, VariablesTakeEffect) {
  PathRequest request;
  request.source.file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  const auto type = [&](const EnvMap& environment) {
    const PathView view = FindPathView(request, environment).value();
    return view.paths.From(view.graph->NodeOf(Rank{0}), view.graph->NodeOf(Rank{1})).type;
  };
  EXPECT_EQ(type({}), topology::PathType::kNvl);
  EXPECT_EQ(type({{"NCCL_P2P_DISABLE", "1"}}), topology::PathType::kPhb);
  EXPECT_EQ(type({{"NCCL_P2P_LEVEL", "far"}}), topology::PathType::kNvl) << "ignored, as in NCCL";
  EXPECT_FALSE(FindPathView(request, {{"RINGLET_P2P_LEVEL", "far"}}).ok());
}

TEST(TopoPathsTest, GigabytesHaveAtMostOneDecimalWhenLarge) {
  EXPECT_EQ(GigabytesText({48'000}), "48");
  EXPECT_EQ(GigabytesText({370'800}), "370.8");
  EXPECT_EQ(GigabytesText({447'120}), "447.1");
  EXPECT_EQ(GigabytesText({12}), "0.012");
}

}  // namespace
}  // namespace ringlet::cli
