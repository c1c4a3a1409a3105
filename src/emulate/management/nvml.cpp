// libnvidia-ml.so.1: the emulated devices in NVIDIA's management library.
//
// Undefined functions do not exist, as in an older driver: programs look up functions by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>

#include "emulate/host/device_facts.hpp"
#include "emulate/management/nvml_call.hpp"

namespace ringlet::cuda {
namespace {

constexpr std::uintptr_t kHandleBase = 0x4e564d4c0000, kHandleStep = 0x10;

struct NvmlMemory {
  unsigned long long total, free, used;
};

struct NvmlMemory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

std::atomic<int> users{0};

NvmlDevice HandleOf(std::uint32_t number) {
  return reinterpret_cast<NvmlDevice>(kHandleBase + number * kHandleStep);  // NOLINT
}

int CopyNvmlText(std::string_view text, char* out, unsigned bytes) {
  if (out == nullptr) return kNvmlInvalidArgument;
  if (bytes <= text.size()) return kNvmlInsufficientSize;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return kNvmlSuccess;
}

// The memory of the device. Only this process uses it: processes do not share device memory.
NvmlMemory MemoryOf(std::uint32_t number) {
  const std::uint64_t total = Host().InfoOf(number).total, used = Host().AllocatedOn(number);
  return {.total = total, .free = total - used, .used = used};
}

int FindDevice(std::optional<std::uint32_t> number, NvmlDevice* device) {
  if (users == 0) return kNvmlUninitialized;
  if (device == nullptr) return kNvmlInvalidArgument;
  if (!number) return kNvmlNotFound;
  *device = HandleOf(*number);
  return kNvmlSuccess;
}

}  // namespace

bool NvmlIsOpen() {
  return users > 0;
}

std::optional<std::uint32_t> NvmlNumber(NvmlDevice device) {
  const auto handle = reinterpret_cast<std::uintptr_t>(device);
  if (handle < kHandleBase || (handle - kHandleBase) % kHandleStep != 0) return std::nullopt;
  const std::uintptr_t number = (handle - kHandleBase) / kHandleStep;
  if (number >= Host().machine().devices()) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

void FillNvmlPci(const PciPlace& place, NvmlPci& pci) {
  pci.domain = place.domain;
  pci.bus = place.bus;
  pci.device = place.device;
  std::ranges::copy(LongPciText(place), pci.address.begin());
  // The older field has room for only four digits of the domain.
  std::ranges::copy(
      LongPciText({place.domain & 0xffffU, place.bus, place.device, place.function}).substr(4),
      pci.address_short.begin());
}

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
    case kNvmlNotFound: return "the device does not exist";
    case kNvmlInsufficientSize: return "the buffer is too small";
    case kNvmlVersionMismatch: return "the version of a structure is unknown";
    default: return "unknown error";
  }
}

RINGLET_NVML_FUNCTION int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  return CopyNvmlText(kDriverVersionText, text, bytes);
}

RINGLET_NVML_FUNCTION int nvmlSystemGetNVMLVersion(char* text, unsigned bytes) {
  return CopyNvmlText("13.580.0", text, bytes);
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
                    : WriteNumber(Host().machine().devices(), count);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  if (users > 0 && index >= Host().machine().devices()) return kNvmlInvalidArgument;
  return FindDevice(index, device);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetHandleByIndex(unsigned index, NvmlDevice* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetHandleByPciBusId_v2(const char* address,
                                                           NvmlDevice* device) {
  if (address == nullptr) return kNvmlInvalidArgument;
  const auto place = ParsePci(address);
  return FindDevice(place ? Host().machine().At(*place) : std::nullopt, device);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetHandleByUUID(const char* uuid, NvmlDevice* device) {
  if (uuid == nullptr) return kNvmlInvalidArgument;
  // Accepts the UUID with and without "GPU-", as NVIDIA's library does.
  constexpr std::string_view kPrefix = "GPU-";
  const std::string_view given(uuid);
  for (std::uint32_t number = 0; number < Host().machine().devices(); ++number) {
    const std::string text = UuidText(Facts(number));
    if (text == given || text.substr(kPrefix.size()) == given) return FindDevice(number, device);
  }
  return FindDevice(std::nullopt, device);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetIndex(NvmlDevice device, unsigned* index) {
  return OfDevice(device, [&](std::uint32_t number) { return WriteNumber(number, index); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMinorNumber(NvmlDevice device, unsigned* minor) {
  return OfDevice(device, [&](std::uint32_t number) { return WriteNumber(number, minor); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetName(NvmlDevice device, char* name, unsigned bytes) {
  return OfDevice(
      device, [&](std::uint32_t number) { return CopyNvmlText(Facts(number).name, name, bytes); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetUUID(NvmlDevice device, char* uuid, unsigned bytes) {
  return OfDevice(device, [&](std::uint32_t number) {
    return CopyNvmlText(UuidText(Facts(number)), uuid, bytes);
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetPciInfo_v3(NvmlDevice device, NvmlPci* pci) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (pci == nullptr) return kNvmlInvalidArgument;
    *pci = {};
    FillNvmlPci(Facts(number).pci, *pci);
    pci->device_id = Facts(number).pci_id;
    pci->subsystem_id = Facts(number).pci_subsystem_id;
    return kNvmlSuccess;
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMemoryInfo(NvmlDevice device, NvmlMemory* memory) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (memory == nullptr) return kNvmlInvalidArgument;
    *memory = MemoryOf(number);
    return kNvmlSuccess;
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMemoryInfo_v2(NvmlDevice device, NvmlMemory2* memory) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (memory == nullptr) return kNvmlInvalidArgument;
    const NvmlMemory is = MemoryOf(number);
    *memory = {memory->version, is.total, 0, is.free, is.used};
    return kNvmlSuccess;
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetCudaComputeCapability(NvmlDevice device, int* major,
                                                             int* minor) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (major == nullptr || minor == nullptr) return kNvmlInvalidArgument;
    *major = Facts(number).capability_major();
    *minor = Facts(number).capability_minor();
    return kNvmlSuccess;
  });
}

// The numbers of nvmlDeviceArchitecture_t.
RINGLET_NVML_FUNCTION int nvmlDeviceGetArchitecture(NvmlDevice device, unsigned* architecture) {
  constexpr unsigned kUnknown = ~0U;
  return OfDevice(device, [&](std::uint32_t number) {
    const std::uint32_t capability = Facts(number).capability;
    unsigned is = kUnknown;
    if (capability >= 60) is = 4;    // Pascal
    if (capability >= 70) is = 5;    // Volta
    if (capability >= 75) is = 6;    // Turing
    if (capability >= 80) is = 7;    // Ampere
    if (capability == 89) is = 8;    // Ada
    if (capability >= 90) is = 9;    // Hopper
    if (capability >= 100) is = 10;  // Blackwell
    return WriteNumber(is, architecture);
  });
}

}  // namespace ringlet::cuda
