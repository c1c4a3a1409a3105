// The wrapper of NVML's functions: numbers, device handles, checks.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "emulate/host/host_cuda.hpp"

#define RINGLET_NVML_FUNCTION extern "C" RINGLET_API

namespace ringlet::cuda {

enum NvmlCode : int {
  kNvmlSuccess = 0,
  kNvmlUninitialized = 1,
  kNvmlInvalidArgument = 2,
  kNvmlNotSupported = 3,
  kNvmlNotFound = 6,
  kNvmlInsufficientSize = 7,
  kNvmlVersionMismatch = 25,
};

/// Has a pointer type but is never dereferenced.
using NvmlDevice = void*;

struct NvmlPci {
  std::array<char, 16> address_short;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> address;
};
static_assert(sizeof(NvmlPci) == 68);

/// True after nvmlInit, until as many calls of nvmlShutdown.
bool NvmlIsOpen();
/// Returns a device's number among all devices; empty if the handle is invalid.
std::optional<std::uint32_t> NvmlNumber(NvmlDevice device);
inline const CudaDeviceFacts& Facts(std::uint32_t number) {
  return Host().machine()[number];
}
/// Writes the address in NVML's form.
void FillNvmlPci(const PciPlace& place, NvmlPci& pci);

/// Runs `body` with the number of the device.
template <typename Body>
int OfDevice(NvmlDevice device, Body&& body) {
  if (!NvmlIsOpen()) return kNvmlUninitialized;
  const auto number = NvmlNumber(device);
  return number ? std::forward<Body>(body)(*number) : static_cast<int>(kNvmlInvalidArgument);
}

inline int WriteNumber(unsigned value, unsigned* out) {
  if (out == nullptr) return kNvmlInvalidArgument;
  *out = value;
  return kNvmlSuccess;
}

}  // namespace ringlet::cuda
