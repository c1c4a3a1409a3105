// The device of a thread. The null and per-thread streams of the thread belong to this device.
#pragma once
#include <atomic>
#include <cstdint>

#include "os/fs/gpu_driver.hpp"
#include "ringlet/stream.h"

namespace ringlet::stream {

/// Returns this thread's device. The default is 0.
int CurrentDevice();
void SetCurrentDevice(int device);

/// True if NULL as the stream of an operation means the legacy stream (ringletStreamUseNull).
/// Applies to the whole process. Its one reader is on the path of each operation.
inline std::atomic<bool> null_is_stream{false};

/// Returns true if an operation with this handle is issued to a stream. Otherwise the operation is
/// complete on return. If the program has loaded NVIDIA's driver, the special handles belong to
/// CUDA. The library cannot issue to them, so it treats them as null.
inline bool IsStream(const void* handle) {
  const bool is_special = reinterpret_cast<std::uintptr_t>(handle) <=
                          reinterpret_cast<std::uintptr_t>(ringletStreamPerThread);
  const bool is_null = handle == nullptr || (is_special && os::HasGpuDriver());
  return !is_null || null_is_stream.load(std::memory_order_relaxed);
}

}  // namespace ringlet::stream
