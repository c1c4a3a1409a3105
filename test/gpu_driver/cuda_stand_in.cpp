// Stands in for NVIDIA's driver, libcuda.so.1, with cuPointerGetAttributes only, for memory that a
// test names. The interface is CUDA's published one; no part is copied from NVIDIA. Compiled with
// CUDA_STAND_IN_EMULATED it is that of `ringlet emulate`.
#include <cstdint>

namespace {

struct Range {
  std::uintptr_t begin = 0, end = 0;
  unsigned type = 0, managed = 0;
};
Range known;

unsigned AttributeOf(const Range* range, int attribute) {
  if (range == nullptr) return 0;  // memory unknown to CUDA
  return attribute == 2 ? range->type : attribute == 8 ? range->managed : 0;
}

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default")))

STAND_IN int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                    unsigned long long address) {
  const Range* const range = address >= known.begin && address < known.end ? &known : nullptr;
  for (unsigned i = 0; i < count; ++i)
    *static_cast<unsigned*>(values[i]) = AttributeOf(range, attributes[i]);
  return 0;
}

/// Sets the memory known to CUDA, with its type.
STAND_IN void StandInMemory(const void* begin, unsigned long long bytes, unsigned type,
                            unsigned managed) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  known = {at, at + bytes, type, managed};
}

#ifdef CUDA_STAND_IN_EMULATED
STAND_IN int ringlet_host_device_number(int device) {
  return device;
}
#endif
