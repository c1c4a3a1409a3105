#include "stream/current_device.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ringlet::stream {
namespace {

TEST(CurrentDevice, BelongsToTheThread) {
  SetCurrentDevice(3);
  int of_another = -1;
  {
    const std::jthread another([&] { of_another = CurrentDevice(); });
  }
  EXPECT_EQ(of_another, 0);
  EXPECT_EQ(CurrentDevice(), 3);
  SetCurrentDevice(0);
}

TEST(CurrentDevice, TheSettingMakesNullAStream) {
  EXPECT_FALSE(IsStream(nullptr));
  EXPECT_TRUE(IsStream(&null_is_stream));
  null_is_stream = true;
  EXPECT_TRUE(IsStream(nullptr));
  null_is_stream = false;
}

TEST(CurrentDevice, SpecialStreamsBelongToCudaIfItsDriverIsLoaded) {
  const auto is_special = [] {
    return IsStream(ringletStreamLegacy) && IsStream(ringletStreamPerThread);
  };
  EXPECT_TRUE(is_special());
  os::gpu_pointer_query = [](unsigned, const int*, void**, std::uintptr_t) { return 1; };
  EXPECT_FALSE(IsStream(ringletStreamLegacy));
  EXPECT_FALSE(IsStream(ringletStreamPerThread));
  EXPECT_TRUE(IsStream(&null_is_stream));
  null_is_stream = true;
  EXPECT_TRUE(is_special());
  null_is_stream = false;
  os::gpu_pointer_query = nullptr;
}

}  // namespace
}  // namespace ringlet::stream
