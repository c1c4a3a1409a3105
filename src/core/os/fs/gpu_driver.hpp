// NVIDIA's driver, if the program has loaded it: distinguishes GPU memory from other memory.
#pragma once
#include <atomic>
#include <cstdint>

namespace ringlet::os {

/// Checks whether this process has loaded libcuda.so.1, and keeps it loaded. Ignores the library of
/// `ringlet emulate`, because its device memory is host memory. Any thread.
/// Cost  a look-up by the linker; almost free if no library was loaded since the last call
void DetectGpuDriver();

/// cuPointerGetAttributes of the loaded driver. Null if no driver was found.
using PointerQuery = int(unsigned count, const int* attributes, void** values, std::uintptr_t at);
inline std::atomic<PointerQuery*> gpu_pointer_query{nullptr};

/// Returns true if DetectGpuDriver has found a driver. Cost  a load
inline bool HasGpuDriver() {
  return gpu_pointer_query.load(std::memory_order_relaxed) != nullptr;
}

/// Returns true if `query` reports `address` as GPU memory that is not shared with CPUs.
bool IsGpuMemory(PointerQuery* query, const void* address);

/// Does the same with the loaded driver. Cost  a load if no driver was found
inline bool IsGpuMemory(const void* address) {
  PointerQuery* const query = gpu_pointer_query.load(std::memory_order_relaxed);
  return query != nullptr && IsGpuMemory(query, address);
}

}  // namespace ringlet::os
