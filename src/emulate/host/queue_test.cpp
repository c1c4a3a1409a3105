#include "emulate/host/queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace ringlet::cuda {
namespace {

ringletStream_t NewStream() {
  ringletStream_t stream = nullptr;
  EXPECT_EQ(ringletStreamCreate(&stream, 0, ringletStreamNonBlocking, 0), ringletSuccess);
  return stream;
}

TEST(QueueTest, RunsWorkInOrderAndThenReleasesIt) {
  const ringletStream_t stream = NewStream();
  std::vector<int> order;
  const auto held = std::make_shared<int>(0);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(Enqueue(stream, [&order, i, held] { order.push_back(i); }).ok());
  EXPECT_TRUE(EnqueueAndWait(stream, [&] { order.push_back(3); }).ok());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(held.use_count(), 1);
  ringletStreamDestroy(stream);
}

TEST(QueueTest, RunsCapturedWorkAtEachLaunch) {
  const ringletStream_t stream = NewStream();
  int runs = 0;
  auto held = std::make_shared<int>(0);
  ASSERT_EQ(ringletStreamBeginCapture(stream, ringletCaptureRelaxed), ringletSuccess);
  EXPECT_TRUE(Captures(stream));
  EXPECT_TRUE(Enqueue(stream, [&runs, held] { ++runs; }).ok());
  ringletGraph_t graph = nullptr;
  ASSERT_EQ(ringletStreamEndCapture(stream, &graph), ringletSuccess);
  EXPECT_FALSE(Captures(stream));
  EXPECT_TRUE(AddNode(nullptr, graph, nullptr, 0, [&runs, held] { runs += 0; }).ok());
  ringletGraphExec_t executable = nullptr;
  ASSERT_EQ(ringletGraphInstantiate(&executable, graph), ringletSuccess);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(ringletGraphLaunch(executable, stream), ringletSuccess);
  ASSERT_EQ(ringletStreamSynchronize(stream), ringletSuccess);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(held.use_count(), 3);
  ringletGraphExecDestroy(executable);
  ringletGraphDestroy(graph);
  ringletStreamDestroy(stream);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(QueueTest, RefusesAnUnknownStream) {
  int stray = 0;
  const Answer put = Enqueue(reinterpret_cast<ringletStream_t>(&stray), [] {});
  EXPECT_EQ(put.code, CudaCode::kInvalidHandle);
  EXPECT_NE(put.sentence, "");
}

}  // namespace
}  // namespace ringlet::cuda
