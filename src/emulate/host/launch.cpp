#include "emulate/host/launch.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <vector>

#include "emulate/host/device_facts.hpp"

namespace ringlet::cuda {
namespace {

/// Aligns each value for any type.
constexpr std::size_t kValueAlignment = 16;

/// A launch with its own argument values. `arguments` point into `bytes`.
struct HeldLaunch {
  HostKernel kernel;
  LaunchShape shape;
  std::vector<std::max_align_t> bytes;
  std::vector<void*> arguments;
  void* stream = nullptr;
  int device = 0;
};
static_assert(alignof(std::max_align_t) >= kValueAlignment);

std::size_t RoundedUp(std::size_t bytes) {
  return (bytes + kValueAlignment - 1) / kValueAlignment * kValueAlignment;
}

void CopyArguments(void** values, HeldLaunch& launch) {
  std::size_t total = 0;
  for (const std::size_t bytes : launch.kernel.parameters) total += RoundedUp(bytes);
  launch.bytes.resize(total / sizeof(std::max_align_t) + 1);
  auto* at = reinterpret_cast<std::byte*>(launch.bytes.data());
  for (std::size_t i = 0; i < launch.kernel.parameters.size(); ++i) {
    const std::size_t bytes = launch.kernel.parameters[i];
    std::memcpy(at, values[i], bytes);
    launch.arguments.push_back(at);
    at += RoundedUp(bytes);
  }
}

void Run(HeldLaunch& launch) {
  const ringlet_host_kernel_arguments arguments{
      .size = sizeof(ringlet_host_kernel_arguments),
      .name = launch.kernel.name.c_str(),
      .grid = {launch.shape.grid[0], launch.shape.grid[1], launch.shape.grid[2]},
      .block = {launch.shape.block[0], launch.shape.block[1], launch.shape.block[2]},
      .shared_bytes = launch.shape.shared_bytes,
      .arguments = launch.arguments.data(),
      .stream = launch.stream,
      .device = launch.device};
  launch.kernel.run(&arguments);
}

}  // namespace

Answer CheckShape(const LaunchShape& shape) {
  std::size_t threads = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    threads *= shape.block[axis];
    if (shape.grid[axis] == 0 || shape.block[axis] == 0 ||
        shape.grid[axis] > static_cast<unsigned>(kGridMax[axis]) ||
        shape.block[axis] > static_cast<unsigned>(kBlockMax[axis]))
      return {CudaCode::kInvalidConfiguration,
              fmt::format("axis {} of the launch has {} blocks of {} threads", axis,
                          shape.grid[axis], shape.block[axis])};
  }
  if (threads > static_cast<std::size_t>(kThreadsPerBlockMax))
    return {CudaCode::kInvalidConfiguration, fmt::format("{} threads in a block", threads)};
  if (shape.shared_bytes > static_cast<std::size_t>(kSharedBytesPerBlockOptIn))
    return {CudaCode::kInvalidValue, fmt::format("{} bytes shared in a block", shape.shared_bytes)};
  return Done();
}

PreparedLaunch PrepareLaunch(const HostKernel& kernel, const LaunchShape& shape, void** arguments,
                             void* stream, int device) {
  Answer fits = CheckShape(shape);
  if (fits.ok() && !kernel.parameters.empty() && arguments == nullptr)
    fits = {CudaCode::kInvalidValue, fmt::format("{} is launched without arguments", kernel.name)};
  if (!fits.ok()) return {.answer = std::move(fits), .work = {}};
  // A shared pointer, because std::function must be copyable.
  const auto launch = std::make_shared<HeldLaunch>();
  launch->kernel = kernel;
  launch->shape = shape;
  launch->stream = stream;
  launch->device = device;
  CopyArguments(arguments, *launch);
  return {.answer = Done(), .work = [launch] { Run(*launch); }};
}

}  // namespace ringlet::cuda
