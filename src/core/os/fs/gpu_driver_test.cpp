#include "os/fs/gpu_driver.hpp"

#include <gtest/gtest.h>

namespace ringlet::os {
namespace {

// The tests with a driver are in test/gpu_driver.
TEST(GpuDriver, IsAbsentIfNoDriverIsLoaded) {
  for (int i = 0; i < 2; ++i) DetectGpuDriver();
  EXPECT_FALSE(HasGpuDriver());
  const int here = 0;
  EXPECT_FALSE(IsGpuMemory(&here));
}

/// A driver with the given memory type and managed attribute, or a failing one.
template <unsigned type, unsigned managed, int code>
int Query(unsigned count, const int* attributes, void** values, std::uintptr_t) {
  for (unsigned i = 0; i < count; ++i)
    *static_cast<unsigned*>(values[i]) = attributes[i] == 2 ? type : managed;
  return code;
}

TEST(GpuDriver, HostMemoryIsNotGpuMemory) {
  const int here = 0;
  EXPECT_TRUE(IsGpuMemory(Query<2, 0, 0>, &here));
  EXPECT_FALSE(IsGpuMemory(Query<2, 1, 0>, &here)) << "managed";
  EXPECT_FALSE(IsGpuMemory(Query<1, 0, 0>, &here)) << "pinned";
  EXPECT_FALSE(IsGpuMemory(Query<0, 0, 0>, &here)) << "unknown to CUDA";
  EXPECT_FALSE(IsGpuMemory(Query<2, 0, 3>, &here)) << "CUDA does not run";
}

}  // namespace
}  // namespace ringlet::os
