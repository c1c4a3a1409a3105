// The frame of NVML's functions: its numbers, handles of devices, checks.
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

/// Looks like a pointer and is never followed.
using NvmlDevice = void*;

struct NvmlPci {
  std::array<char, 16> address_short;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> address;
};
static_assert(sizeof(NvmlPci) == 68);

/// Whether nvmlInit was called, and nvmlShutdown as often since.
bool NvmlIsOpen();
/// The number of a device among all; empty if it is no handle of ours.
std::optional<std::uint32_t> NvmlNumber(NvmlDevice device);
inline const CudaDeviceFacts& Facts(std::uint32_t number) {
  return Host().machine()[number];
}
/// The address in NVML's words.
void FillNvmlPci(const PciPlace& place, NvmlPci& pci);

/// Runs `body` with the number of the device.
template <typename Body>
int OfDevice(NvmlDevice device, Body&& body) {
  if (!NvmlIsOpen()) return kNvmlUninitialized;
  const auto number = NvmlNumber(device);
  return number ? std::forward<Body>(body)(*number) : static_cast<int>(kNvmlInvalidArgument);
}

inline int GiveNumber(unsigned value, unsigned* out) {
  if (out == nullptr) return kNvmlInvalidArgument;
  *out = value;
  return kNvmlSuccess;
}

}  // namespace ringlet::cuda
