#include "os/fs/gpu_driver.hpp"

#include <dlfcn.h>
#include <link.h>

#include <iterator>

namespace ringlet::os {
namespace {

// Constants of CUDA's interface.
constexpr int kMemoryType = 2, kIsManaged = 8;
constexpr unsigned kDeviceMemory = 2;
// Function that only the library of `ringlet emulate` has.
constexpr const char* kOfEmulation = "ringlet_host_device_number";

/// Returns the number of libraries that the process has ever loaded.
unsigned long long CountLoaded() {
  unsigned long long count = 0;
  const auto read = [](dl_phdr_info* info, std::size_t /*bytes*/, void* out) {
    *static_cast<unsigned long long*>(out) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(read, &count);
  return count;
}

/// Keeps the handle open, so the library stays loaded.
PointerQuery* FindQuery() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  void* const query = dlsym(driver, "cuPointerGetAttributes");
  if (query != nullptr && dlsym(driver, kOfEmulation) == nullptr)
    return reinterpret_cast<PointerQuery*>(query);
  dlclose(driver);
  return nullptr;
}

}  // namespace

void DetectGpuDriver() {
  static std::atomic<unsigned long long> looked_at{0};
  if (HasGpuDriver()) return;
  const unsigned long long loaded = CountLoaded();
  if (looked_at.load() == loaded) return;
  if (PointerQuery* const query = FindQuery()) gpu_pointer_query = query;
  looked_at = loaded;
}

bool IsGpuMemory(PointerQuery* query, const void* address) {
  const int attributes[] = {kMemoryType, kIsManaged};
  unsigned type = 0, managed = 0;
  void* values[] = {&type, &managed};
  const int failed =
      query(std::size(attributes), attributes, values, reinterpret_cast<std::uintptr_t>(address));
  return failed == 0 && type == kDeviceMemory && managed == 0;
}

}  // namespace ringlet::os
