#include "tool/plan/plan_channels.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

NodeView FourGpus() {
  NodeView node;
  node.gpus = {"GPU0", "GPU1", "GPU2", "GPU3"};
  node.nets = {"mlx5_0", "mlx5_1"};
  return node;
}

plan::PatternGraph GraphOf(std::vector<plan::LocalChannel> channels,
                           plan::Pattern pattern = plan::Pattern::kRing) {
  plan::PatternGraph graph;
  graph.pattern = pattern;
  graph.channels = std::move(channels);
  return graph;
}

TEST(PlanChannelsTest, AChannelListsItsDevicesAndNics) {
  EXPECT_EQ(ChannelText(FourGpus(), {{1, 0}, 0, 1}), "mlx5_0 > GPU1 GPU0 > mlx5_1");
  EXPECT_EQ(ChannelText(FourGpus(), {{0, 1}}), "GPU0 GPU1");
}

TEST(PlanChannelsTest, EqualRingsShareOneLine) {
  EXPECT_EQ(ChannelsText(FourGpus(), GraphOf({{{0, 1, 2, 3}}, {{0, 1, 2, 3}}, {{0, 2, 1, 3}}})),
            "  0-1: GPU0 GPU1 GPU2 GPU3, x 2\n"
            "   2: GPU0 GPU2 GPU1 GPU3\n");
}

TEST(PlanChannelsTest, RotatedRingsWithinTheHostShareOneLine) {
  EXPECT_EQ(ChannelsText(FourGpus(), GraphOf({{{0, 1, 2}}, {{2, 1, 0}}, {{2, 0, 1}}})),
            "  0,2: GPU0 GPU1 GPU2, x 2\n"
            "   1: GPU2 GPU1 GPU0\n");
}

TEST(PlanChannelsTest, RotatedChannelsWithNicsNameTheirStarts) {
  EXPECT_EQ(ChannelsText(FourGpus(), GraphOf({{{0, 1}, 0, 0}, {{1, 0}, 1, 1}, {{0, 1}, 0, 0}})),
            "  0-2: GPU0 GPU1, x 3, from GPU0 (mlx5_0) x 2, GPU1 (mlx5_1)\n");
  EXPECT_EQ(ChannelsText(FourGpus(), GraphOf({{{0, 1}, 0, 1}, {{0, 1}, 0, 1}})),
            "  0-1: mlx5_0 > GPU0 GPU1 > mlx5_1, x 2\n");
  EXPECT_EQ(ChannelsText(FourGpus(), GraphOf({{{0, 1}, 0, 1}, {{0, 1}, 1, 0}})),
            "  0-1: GPU0 GPU1, x 2, from GPU0 (mlx5_0 > mlx5_1), GPU0 (mlx5_1 > mlx5_0)\n");
}

TEST(PlanChannelsTest, ChainsNameTheirStarts) {
  EXPECT_EQ(ChannelsText(FourGpus(), GraphOf({{{0, 1}}, {{1, 0}}}, plan::Pattern::kBalancedTree)),
            "  0-1: GPU0 GPU1, x 2, from GPU0, GPU1\n");
}

TEST(PlanChannelsTest, HeadsShareOneLine) {
  EXPECT_EQ(ChannelsText(FourGpus(), GraphOf({{{0}}, {{1}}}, plan::Pattern::kNvls)),
            "  0-1: a head each, x 2, from GPU0, GPU1\n");
}

TEST(PlanChannelsTest, ConsecutiveNumbersFormARange) {
  EXPECT_EQ(RangesText({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(RangesText({}), "");
}

}  // namespace
}  // namespace ringlet::cli
