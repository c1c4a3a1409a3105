// The C functions of graphs, as a program calls them.
#include <gtest/gtest.h>

#include <iterator>

#include "ringlet/stream.h"

namespace ringlet::stream_api {
namespace {

void Double(void* data) {
  *static_cast<int*>(data) *= 2;
}

void AddOne(void* data) {
  ++*static_cast<int*>(data);
}

TEST(GraphFunctions, MakeAndLaunchAGraph) {
  ringletGraph_t graph = nullptr, clone = nullptr;
  ringletStream_t stream = nullptr;
  int value = 3, ended = 0;
  ASSERT_EQ(ringletStreamCreate(&stream, 0, 0, 0), ringletSuccess);
  ASSERT_EQ(ringletGraphCreate(&graph), ringletSuccess);
  ringletGraphNode_t nodes[3] = {};
  EXPECT_EQ(ringletGraphAddHostNode(&nodes[0], graph, nullptr, 0, Double, &value), ringletSuccess);
  EXPECT_EQ(ringletGraphAddEmptyNode(&nodes[1], graph, &nodes[0], 1), ringletSuccess);
  EXPECT_EQ(ringletGraphAddHostNode(&nodes[2], graph, nodes, 2, AddOne, &value), ringletSuccess);
  EXPECT_EQ(ringletGraphOnDestroy(graph, AddOne, &ended), ringletSuccess);
  EXPECT_EQ(ringletGraphClone(&clone, graph), ringletSuccess);
  ringletGraphNode_t got[4] = {};
  size_t count = std::size(got);
  EXPECT_EQ(ringletGraphGetNodes(graph, got, &count), ringletSuccess);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(got[2], nodes[2]);
  ringletGraphExec_t exec = nullptr;
  ASSERT_EQ(ringletGraphInstantiate(&exec, clone), ringletSuccess);
  EXPECT_EQ(ringletGraphDestroy(graph), ringletSuccess);
  EXPECT_EQ(ringletGraphDestroy(clone), ringletSuccess);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ringletGraphLaunch(exec, stream), ringletSuccess);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(ringletGraphExecDestroy(exec), ringletSuccess);
  EXPECT_EQ(ringletStreamSynchronize(stream), ringletSuccess);
  EXPECT_EQ(value, (3 * 2 + 1) * 2 + 1);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(ringletStreamDestroy(stream), ringletSuccess);
}

TEST(GraphFunctions, ArgumentsAreChecked) {
  ringletGraph_t graph = nullptr;
  int value = 0;
  EXPECT_EQ(ringletGraphCreate(nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletGraphDestroy(nullptr), ringletInvalidHandle);
  ASSERT_EQ(ringletGraphCreate(&graph), ringletSuccess);
  EXPECT_EQ(ringletGraphAddHostNode(nullptr, graph, nullptr, 0, nullptr, &value),
            ringletInvalidArgument);
  EXPECT_EQ(ringletGraphAddHostNode(nullptr, graph, nullptr, 1, AddOne, &value),
            ringletInvalidArgument);
  EXPECT_EQ(ringletGraphClone(nullptr, graph), ringletInvalidArgument);
  EXPECT_EQ(ringletGraphInstantiate(nullptr, graph), ringletInvalidArgument);
  EXPECT_EQ(ringletGraphGetNodes(graph, nullptr, nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletGraphOnDestroy(graph, nullptr, nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletGraphLaunch(nullptr, nullptr), ringletInvalidHandle);
  EXPECT_EQ(ringletGraphExecDestroy(nullptr), ringletInvalidHandle);
  EXPECT_EQ(ringletGraphDestroy(graph), ringletSuccess);
}

}  // namespace
}  // namespace ringlet::stream_api
