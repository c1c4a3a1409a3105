#include "emulate/host/launch.hpp"

#include <gmock/gmock.h>

namespace ringlet::cuda {
namespace {

struct Seen {
  double sum = 0;
  unsigned blocks = 0, threads = 0;
  int device = -1;
  std::string name;
};

// The host function of kernel(Seen*, double, char).
void Record(const ringlet_host_kernel_arguments* launch) {
  auto* const seen = *static_cast<Seen**>(launch->arguments[0]);
  seen->sum =
      *static_cast<double*>(launch->arguments[1]) + *static_cast<char*>(launch->arguments[2]);
  seen->blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
  seen->threads = launch->block[0];
  seen->device = launch->device;
  seen->name = launch->name;
}

const HostKernel kKernel{"kernel", Record, {8, 8, 1}};

TEST(LaunchTest, CopiesArgumentsAndShapeOfTheLaunch) {
  Seen seen;
  Seen* to = &seen;
  double number = 2.5;
  char small = 3;
  void* arguments[] = {&to, &number, &small};
  const auto launch =
      PrepareLaunch(kKernel, {.grid = {2, 3, 4}, .block = {64, 1, 1}}, arguments, nullptr, 5);
  ASSERT_TRUE(launch.answer.ok());
  number = small = 0;  // the launch has a copy
  launch.work();
  EXPECT_EQ(seen.sum, 5.5);
  EXPECT_EQ(seen.blocks, 24u);
  EXPECT_EQ(seen.threads, 64u);
  EXPECT_EQ(seen.device, 5);
  EXPECT_EQ(seen.name, "kernel");
}

TEST(LaunchTest, RefusesShapesBeyondTheLimitsOfDevices) {
  const auto code = [](LaunchShape shape) { return CheckShape(shape).code; };
  EXPECT_EQ(code({.grid = {1, 1, 1}, .block = {1, 1, 1}}), CudaCode::kSuccess);
  EXPECT_EQ(code({.grid = {2147483647, 65535, 65535}, .block = {1024, 1, 1}}), CudaCode::kSuccess);
  EXPECT_EQ(code({.grid = {0, 1, 1}, .block = {1, 1, 1}}), CudaCode::kInvalidConfiguration);
  EXPECT_EQ(code({.grid = {1, 65536, 1}, .block = {1, 1, 1}}), CudaCode::kInvalidConfiguration);
  EXPECT_EQ(code({.grid = {1, 1, 1}, .block = {1, 1, 65}}), CudaCode::kInvalidConfiguration);
  EXPECT_EQ(code({.grid = {1, 1, 1}, .block = {1024, 2, 1}}), CudaCode::kInvalidConfiguration);
  EXPECT_EQ(code({.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 1 << 20}),
            CudaCode::kInvalidValue);
}

TEST(LaunchTest, RefusesALaunchWithoutArguments) {
  const auto launch =
      PrepareLaunch(kKernel, {.grid = {1, 1, 1}, .block = {1, 1, 1}}, nullptr, nullptr, 0);
  EXPECT_EQ(launch.answer.code, CudaCode::kInvalidValue);
}

}  // namespace
}  // namespace ringlet::cuda
