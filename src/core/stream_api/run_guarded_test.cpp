#include "stream_api/run_guarded.hpp"

#include <gtest/gtest.h>

namespace ringlet::stream_api {
namespace {

TEST(RunGuarded, KeepsTheLastMessage) {
  EXPECT_EQ(RunGuarded([]() -> stream::Answer { return {ringletFailed, "first"}; }), ringletFailed);
  EXPECT_EQ(RunGuarded([]() -> stream::Answer { return {}; }), ringletSuccess);
  EXPECT_EQ(RunGuarded([]() -> stream::Answer { return {ringletNotReady, ""}; }), ringletNotReady);
  EXPECT_STREQ(LastMessage(), "first");
}

TEST(RunGuarded, ReturnsAResultWithoutMemory) {
  EXPECT_EQ(RunGuarded([]() -> stream::Answer { throw std::bad_alloc(); }), ringletOutOfMemory);
}

TEST(RunGuarded, ReturnsAsManyNodesAsFit) {
  int out[2] = {0, 0};
  std::size_t count = 1;
  CopyNodes(std::vector{7, 8}, out, &count);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(out[0], 7);
  EXPECT_EQ(out[1], 0);
}

TEST(HostData, AreReleasedOnceAndOnlyIfOwned) {
  int released = 0;
  const ringletHostFunction_t release = [](void* data) { ++*static_cast<int*>(data); };
  {
    const auto owned = std::make_shared<HostData>(&released, release);
    const stream::TaskRef task = TaskOf([](void*) {}, owned);
  }
  EXPECT_EQ(released, 1);
  {
    HostData data(&released, nullptr);
    data.SetRelease(release);
    data.SetRelease(nullptr);
  }
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace ringlet::stream_api
