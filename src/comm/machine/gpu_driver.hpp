// NVIDIA's driver in this process, for front ends.
#pragma once
#include "os/fs/gpu_driver.hpp"

namespace ringlet::comm {

using os::IsGpuMemory;
using os::LookForGpuDriver;

}  // namespace ringlet::comm
