#include "stream_api/say.hpp"

#include <gtest/gtest.h>

namespace ringlet::stream_api {
namespace {

TEST(Say, KeepsTheLastMessage) {
  EXPECT_EQ(Say([]() -> stream::Answer { return {ringletFailed, "first"}; }), ringletFailed);
  EXPECT_EQ(Say([]() -> stream::Answer { return {}; }), ringletSuccess);
  EXPECT_EQ(Say([]() -> stream::Answer { return {ringletNotReady, ""}; }), ringletNotReady);
  EXPECT_STREQ(LastMessage(), "first");
}

TEST(Say, ReturnsAResultWithoutMemory) {
  EXPECT_EQ(Say([]() -> stream::Answer { throw std::bad_alloc(); }), ringletOutOfMemory);
}

TEST(Say, ReturnsAsManyNodesAsFit) {
  int out[2] = {0, 0};
  std::size_t count = 1;
  GiveNodes(std::vector{7, 8}, out, &count);
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
    data.Own(release);
    data.Own(nullptr);
  }
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace ringlet::stream_api
