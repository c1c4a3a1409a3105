#include "frontends/cli/plan/plan_report.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

TEST(PlanReportTest, AChannelIsItsDevicesAndNics) {
  NodeView node;
  node.gpus = {"GPU0", "GPU1"};
  node.nets = {"mlx5_0", "mlx5_1"};
  EXPECT_EQ(ChannelText(node, {{1, 0}, 0, 1}), "mlx5_0 > GPU1 GPU0 > mlx5_1");
  EXPECT_EQ(ChannelText(node, {{0, 1}}), "GPU0 GPU1");
}

TEST(PlanReportTest, PercentIsOfTheBoundAndAtMostAll) {
  plan::PatternGraph graph;
  graph.channels.resize(2);
  graph.intra = {10'000};
  EXPECT_EQ(PercentOfBound(graph), 0);
  graph.bound = {40'000};
  EXPECT_EQ(PercentOfBound(graph), 50);
  graph.bound = {19'000};
  EXPECT_EQ(PercentOfBound(graph), 100);
}

}  // namespace
}  // namespace ringlet::cli
