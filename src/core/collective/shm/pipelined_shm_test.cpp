// Tests reductions in two levels. shm_collective_test.cpp tests operations in one level.
#include "collective/shm/pipelined_shm.hpp"

#include <gtest/gtest.h>

#include "collective/shm/host_world_for_test.hpp"

namespace ringlet::collective {
namespace {

Groups NodesOf(const std::vector<std::vector<std::uint32_t>>& numbers) {
  Groups nodes;
  for (const auto& node : numbers) {
    auto& ranks = nodes.emplace_back();
    for (const std::uint32_t rank : node) ranks.push_back(Rank{rank});
  }
  return nodes;
}

const std::vector<Groups>& Machines() {
  static const std::vector<Groups> machines = {
      NodesOf({{0, 1}, {2, 3}}),          NodesOf({{0, 2, 4}, {1, 3, 5}}),
      NodesOf({{0, 1, 2}, {3, 4}}),       NodesOf({{5, 1}, {0, 2}, {3, 4, 6}}),
      NodesOf({{0, 1, 2, 3, 4}, {5, 6}}), NodesOf({{0, 4}, {1, 5}, {2, 6}, {3, 7}}),
  };
  return machines;
}

std::uint32_t RanksOf(const Groups& nodes) {
  return static_cast<std::uint32_t>(InOrder(nodes).size());
}

TEST(PipelinedShm, TwoLevelsNeedTwoNodesOfTwoRanks) {
  EXPECT_FALSE(TwoLevels({}));
  EXPECT_FALSE(TwoLevels(NodesOf({{0, 1, 2}})));
  EXPECT_FALSE(TwoLevels(NodesOf({{0, 1, 2}, {3}})));
  EXPECT_TRUE(TwoLevels(NodesOf({{0, 1}, {2, 3}})));
}

// A rank puts data only for its node. A rank that read too much of another node would find remains
// of earlier slices.
TEST(PipelinedShm, TwoLevelsGiveTheResultOfASingleLevel) {
  for (const Groups& nodes : Machines()) {
    const std::uint32_t ranks = RanksOf(nodes);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      ShmOptions options;
      options.nodes = nodes;
      if (seed % 2 == 1) options.stream_bytes_min = 1;
      World world(ranks, seed, options);
      ExpectAnySequenceIsRight(world, 40);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// All ranks have the bits of the sums node by node, not of the sum in rank order.
TEST(PipelinedShm, TwoLevelsReduceNodeByNode) {
  constexpr std::size_t kCount = 2000;
  for (const Groups& nodes : Machines()) {
    const std::uint32_t ranks = RanksOf(nodes);
    SCOPED_TRACE(ranks);
    ShmOptions options;
    options.nodes = nodes;
    World world(ranks, ranks, options);
    std::vector<std::vector<float>> inputs(ranks, std::vector<float>(kCount)), outputs = inputs;
    std::vector<std::vector<Call>> lists;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (float& value : inputs[rank])
        value = static_cast<float>(world.prng().Next() % 100000) * 1e-3f;
      lists.push_back({{.kind = CallKind::kAllReduce,
                        .input = std::as_bytes(std::span(inputs[rank])),
                        .output = std::as_writable_bytes(std::span(outputs[rank])),
                        .count = kCount,
                        .type = DataType::kFloat32}});
    }
    ASSERT_TRUE(world.Run(lists).ok());
    for (std::size_t i = 0; i < kCount; ++i) {
      float sum = 0;
      for (const auto& node : nodes) {
        float of_node = 0;
        for (const Rank rank : node) of_node += inputs[Index(rank)][i];
        sum += of_node;
      }
      for (std::uint32_t rank = 0; rank < ranks; ++rank) ASSERT_EQ(outputs[rank][i], sum) << i;
    }
  }
}

}  // namespace
}  // namespace ringlet::collective
