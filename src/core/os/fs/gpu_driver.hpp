// NVIDIA's driver in a process whose program has loaded it: which memory is a GPU's.
#pragma once
#include <atomic>
#include <cstdint>

namespace ringlet::os {

/// Looks whether libcuda.so.1 is among the libraries of this process, and keeps it there. That of
/// `ringlet emulate` does not count: its device memory is the host's. Any thread.
/// Cost  a look-up by the linker; next to nothing where no library was loaded since the last one
void LookForGpuDriver();

/// cuPointerGetAttributes of the driver that was found; null: none was.
using PointerQuery = int(unsigned count, const int* attributes, void** values, std::uintptr_t at);
inline std::atomic<PointerQuery*> gpu_pointer_query{nullptr};

/// Whether LookForGpuDriver has found a driver. Cost  a load
inline bool HasGpuDriver() {
  return gpu_pointer_query.load(std::memory_order_relaxed) != nullptr;
}

/// Whether `query` knows `address` as memory of a GPU, and not as memory that it shares with CPUs.
bool IsGpuMemory(PointerQuery* query, const void* address);

/// The same by the driver that was found. Cost  a load where none was
inline bool IsGpuMemory(const void* address) {
  PointerQuery* const query = gpu_pointer_query.load(std::memory_order_relaxed);
  return query != nullptr && IsGpuMemory(query, address);
}

}  // namespace ringlet::os
