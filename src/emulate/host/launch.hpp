// Checks kernel launches, copies their arguments, and turns them into work for a stream.
#pragma once
#include <array>
#include <functional>
#include <optional>

#include "emulate/host/cuda_code.hpp"
#include "emulate/host/kernels.hpp"

namespace ringlet::cuda {

struct LaunchShape {
  std::array<unsigned, 3> grid{}, block{};
  std::size_t shared_bytes = 0;
};

/// A launch to put into a stream; `work` is empty if `answer` is an error.
struct PreparedLaunch {
  Answer answer;
  std::function<void()> work;
};

/// Creates the work of one launch. Copies the argument values immediately, as CUDA does.
/// \param arguments  a pointer to each value
RINGLET_API PreparedLaunch PrepareLaunch(const HostKernel& kernel, const LaunchShape& shape,
                                         void** arguments, void* stream, int device);

/// Returns an error for a grid or block that no device supports.
RINGLET_API Answer CheckShape(const LaunchShape& shape);

}  // namespace ringlet::cuda
