// The device that a thread works for: where null and per-thread streams are.
#pragma once
#include <atomic>
#include <cstdint>

#include "os/fs/gpu_driver.hpp"
#include "ringlet/stream.h"

namespace ringlet::stream {

/// 0 where it was not set.
int CurrentDevice();
void SetCurrentDevice(int device);

/// Whether NULL as the stream of an operation means the legacy stream (ringletStreamUseNull), for
/// the whole process; the one reader is on the path of each operation.
inline std::atomic<bool> null_is_stream{false};

/// Whether an operation with this stream is issued to one; else it is complete on return. The
/// numbers of the special streams mean CUDA's where the program has loaded NVIDIA's driver: nothing
/// can be issued to these, and they are as null.
inline bool IsStream(const void* handle) {
  const bool is_special = reinterpret_cast<std::uintptr_t>(handle) <=
                          reinterpret_cast<std::uintptr_t>(ringletStreamPerThread);
  const bool is_null = handle == nullptr || (is_special && os::HasGpuDriver());
  return !is_null || null_is_stream.load(std::memory_order_relaxed);
}

}  // namespace ringlet::stream
