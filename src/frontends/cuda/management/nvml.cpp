// libnvidia-ml.so.1: the emulated devices as NVIDIA's management library tells of them.
//
// Functions that are not here do not exist, as in an older driver: programs look them up by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>

#include "frontends/cuda/host/device_facts.hpp"
#include "frontends/cuda/host/host_cuda.hpp"

#define RINGLET_NVML_FUNCTION extern "C" RINGLET_API

namespace ringlet::cuda {
namespace {

enum NvmlCode : int {
  kNvmlSuccess = 0,
  kNvmlUninitialized = 1,
  kNvmlInvalidArgument = 2,
  kNvmlNotSupported = 3,
  kNvmlNotFound = 6,
  kNvmlInsufficientSize = 7,
};

/// Looks like a pointer and is never followed.
using NvmlDevice = void*;
constexpr std::uintptr_t kHandleBase = 0x4e564d4c0000, kHandleStep = 0x10;

struct NvmlPci {
  std::array<char, 16> address_short;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> address;
};
static_assert(sizeof(NvmlPci) == 68);

struct NvmlMemory {
  unsigned long long total, free, used;
};

struct NvmlMemory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

std::atomic<int> users{0};

std::optional<std::uint32_t> Number(NvmlDevice device) {
  const auto handle = reinterpret_cast<std::uintptr_t>(device);
  if (handle < kHandleBase || (handle - kHandleBase) % kHandleStep != 0) return std::nullopt;
  const std::uintptr_t number = (handle - kHandleBase) / kHandleStep;
  if (number >= Host().devices_of_machine()) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

NvmlDevice HandleOf(std::uint32_t number) {
  return reinterpret_cast<NvmlDevice>(kHandleBase + number * kHandleStep);  // NOLINT
}

// Runs `body` with the number of the device.
template <typename Body>
int OfDevice(NvmlDevice device, Body&& body) {
  if (users == 0) return kNvmlUninitialized;
  const auto number = Number(device);
  return number ? body(*number) : static_cast<int>(kNvmlInvalidArgument);
}

int GiveNvmlText(std::string_view text, char* out, unsigned bytes) {
  if (out == nullptr) return kNvmlInvalidArgument;
  if (bytes <= text.size()) return kNvmlInsufficientSize;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return kNvmlSuccess;
}

int GiveNumber(unsigned value, unsigned* out) {
  if (out == nullptr) return kNvmlInvalidArgument;
  *out = value;
  return kNvmlSuccess;
}

// Of this process alone: devices have no memory in common.
MemoryInfo InfoOf(std::uint32_t number) {
  for (std::uint32_t device = 0; device < Host().devices(); ++device)
    if (Host().GlobalNumber(device) == number) return Host().memory().InfoOf(device);
  return {.free = Host().memory_bytes(), .total = Host().memory_bytes()};
}

int FindDevice(std::optional<std::uint32_t> number, NvmlDevice* device) {
  if (users == 0) return kNvmlUninitialized;
  if (device == nullptr) return kNvmlInvalidArgument;
  if (!number) return kNvmlNotFound;
  *device = HandleOf(*number);
  return kNvmlSuccess;
}

}  // namespace

RINGLET_NVML_FUNCTION int nvmlInitWithFlags(unsigned) {
  ++users;
  return kNvmlSuccess;
}

RINGLET_NVML_FUNCTION int nvmlInit_v2() {
  return nvmlInitWithFlags(0);
}

RINGLET_NVML_FUNCTION int nvmlInit() {
  return nvmlInitWithFlags(0);
}

RINGLET_NVML_FUNCTION int nvmlShutdown() {
  int before = users;
  while (before > 0 && !users.compare_exchange_weak(before, before - 1)) continue;
  return before > 0 ? kNvmlSuccess : kNvmlUninitialized;
}

RINGLET_NVML_FUNCTION const char* nvmlErrorString(int code) {
  switch (code) {
    case kNvmlSuccess: return "no error";
    case kNvmlUninitialized: return "nvmlInit was not called";
    case kNvmlInvalidArgument: return "an argument is invalid";
    case kNvmlNotSupported: return "not supported on host devices";
    case kNvmlNotFound: return "there is no such device";
    case kNvmlInsufficientSize: return "the buffer is too small";
    default: return "unknown error";
  }
}

RINGLET_NVML_FUNCTION int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  return GiveNvmlText(kDriverVersionText, text, bytes);
}

RINGLET_NVML_FUNCTION int nvmlSystemGetNVMLVersion(char* text, unsigned bytes) {
  return GiveNvmlText("13.580.0", text, bytes);
}

RINGLET_NVML_FUNCTION int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (version == nullptr) return kNvmlInvalidArgument;
  *version = kDriverVersion;
  return kNvmlSuccess;
}

RINGLET_NVML_FUNCTION int nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetCount_v2(unsigned* count) {
  return users == 0 ? static_cast<int>(kNvmlUninitialized)
                    : GiveNumber(Host().devices_of_machine(), count);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  if (users > 0 && index >= Host().devices_of_machine()) return kNvmlInvalidArgument;
  return FindDevice(index, device);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetHandleByIndex(unsigned index, NvmlDevice* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetHandleByPciBusId_v2(const char* address,
                                                           NvmlDevice* device) {
  if (address == nullptr) return kNvmlInvalidArgument;
  return FindDevice(DeviceAtPci(address, Host().devices_of_machine()), device);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetHandleByUUID(const char* uuid, NvmlDevice* device) {
  if (uuid == nullptr) return kNvmlInvalidArgument;
  for (std::uint32_t number = 0; number < Host().devices_of_machine(); ++number)
    if (UuidText(number) == uuid) return FindDevice(number, device);
  return FindDevice(std::nullopt, device);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetIndex(NvmlDevice device, unsigned* index) {
  return OfDevice(device, [&](std::uint32_t number) { return GiveNumber(number, index); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMinorNumber(NvmlDevice device, unsigned* minor) {
  return OfDevice(device, [&](std::uint32_t number) { return GiveNumber(number, minor); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetName(NvmlDevice device, char* name, unsigned bytes) {
  return OfDevice(device, [&](std::uint32_t) { return GiveNvmlText(kDeviceName, name, bytes); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetUUID(NvmlDevice device, char* uuid, unsigned bytes) {
  return OfDevice(
      device, [&](std::uint32_t number) { return GiveNvmlText(UuidText(number), uuid, bytes); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetPciInfo_v3(NvmlDevice device, NvmlPci* pci) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (pci == nullptr) return kNvmlInvalidArgument;
    *pci = {};
    pci->domain = kPciDomain;
    pci->bus = static_cast<unsigned>(PciBus(number));
    const std::string text = PciText(number);
    std::ranges::copy(text, pci->address_short.begin());
    std::ranges::copy("0000" + text, pci->address.begin());
    return kNvmlSuccess;
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMemoryInfo(NvmlDevice device, NvmlMemory* memory) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (memory == nullptr) return kNvmlInvalidArgument;
    const MemoryInfo info = InfoOf(number);
    *memory = {info.total, info.free, info.total - info.free};
    return kNvmlSuccess;
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMemoryInfo_v2(NvmlDevice device, NvmlMemory2* memory) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (memory == nullptr) return kNvmlInvalidArgument;
    const MemoryInfo info = InfoOf(number);
    *memory = {memory->version, info.total, 0, info.free, info.total - info.free};
    return kNvmlSuccess;
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetCudaComputeCapability(NvmlDevice device, int* major,
                                                             int* minor) {
  return OfDevice(device, [&](std::uint32_t) -> int {
    if (major == nullptr || minor == nullptr) return kNvmlInvalidArgument;
    *major = kCapabilityMajor;
    *minor = kCapabilityMinor;
    return kNvmlSuccess;
  });
}

// The devices have no NVLinks.
RINGLET_NVML_FUNCTION int nvmlDeviceGetNvLinkState(NvmlDevice device, unsigned, unsigned*) {
  return OfDevice(device, [](std::uint32_t) { return kNvmlNotSupported; });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetP2PStatus(NvmlDevice a, NvmlDevice b, int, int* status) {
  return OfDevice(a, [&](std::uint32_t) {
    return OfDevice(b, [&](std::uint32_t) -> int {
      if (status == nullptr) return kNvmlInvalidArgument;
      *status = 0;  // they reach each other
      return kNvmlSuccess;
    });
  });
}

}  // namespace ringlet::cuda
