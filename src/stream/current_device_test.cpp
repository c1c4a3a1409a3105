#include "stream/current_device.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ringlet::stream {
namespace {

TEST(CurrentDevice, IsOfTheThread) {
  SetCurrentDevice(3);
  int of_another = -1;
  {
    const std::jthread another([&] { of_another = CurrentDevice(); });
  }
  EXPECT_EQ(of_another, 0);
  EXPECT_EQ(CurrentDevice(), 3);
  SetCurrentDevice(0);
}

TEST(CurrentDevice, NullIsAStreamOnRequest) {
  EXPECT_FALSE(IsStream(nullptr));
  EXPECT_TRUE(IsStream(&null_is_stream));
  null_is_stream = true;
  EXPECT_TRUE(IsStream(nullptr));
  null_is_stream = false;
}

}  // namespace
}  // namespace ringlet::stream
