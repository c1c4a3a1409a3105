// The driver: devices and contexts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "emulate/driver/driver_call.hpp"
#include "emulate/host/device_facts.hpp"

namespace ringlet::cuda {
namespace {

constexpr int kInvalidContext = 201;
constexpr std::uintptr_t kContextBase = 0x52494e470000, kContextStep = 0x10;

/// The contexts that this thread has pushed; the last one is current. A thread that only uses the
/// runtime pushes none and uses the runtime's device.
thread_local std::vector<Context> contexts;

Answer MakeCurrent(Context context) {
  const auto device = DeviceOf(context);
  if (!device)
    return {static_cast<CudaCode>(kInvalidContext), "the context does not belong to this process"};
  return FromStream(ringletStreamSetDevice(*device));
}

struct UuidBytes {
  std::array<unsigned char, 16> bytes;
};

Answer CopyText(std::string_view text, char* out, int bytes) {
  if (out == nullptr) return NullArgument();
  if (bytes <= 0) return {CudaCode::kInvalidValue, "the text does not fit into the buffer"};
  const std::size_t count = std::min(text.size(), static_cast<std::size_t>(bytes) - 1);
  std::memcpy(out, text.data(), count);
  out[count] = '\0';
  return Done();
}

const CudaDeviceFacts& FactsOf(int device) {
  return Host().FactsOf(static_cast<std::uint32_t>(device));
}

}  // namespace

Context ContextOf(int device) {
  return reinterpret_cast<Context>(  // NOLINT(performance-no-int-to-ptr)
      kContextBase + static_cast<std::uintptr_t>(device) * kContextStep);
}

std::optional<int> DeviceOf(Context context) {
  for (int device = 0; std::cmp_less(device, Host().devices()); ++device)
    if (ContextOf(device) == context) return device;
  return std::nullopt;
}

RINGLET_DRIVER_FUNCTION int cuInit(unsigned flags) {
  return DriverCall("cuInit", [&]() -> Answer {
    if (flags != 0) return {CudaCode::kInvalidValue, "flags is not 0"};
    if (Host().devices() == 0) return {CudaCode::kNoDevice, "no device is visible"};
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuDriverGetVersion(int* version) {
  if (version == nullptr) return static_cast<int>(CudaCode::kInvalidValue);
  *version = kDriverVersion;
  return 0;
}

RINGLET_DRIVER_FUNCTION int cuDeviceGetCount(int* count) {
  if (count == nullptr) return static_cast<int>(CudaCode::kInvalidValue);
  *count = static_cast<int>(Host().devices());
  return 0;
}

RINGLET_DRIVER_FUNCTION int cuDeviceGet(int* device, int ordinal) {
  return DriverCall("cuDeviceGet", [&]() -> Answer {
    if (device == nullptr) return NullArgument();
    if (const Answer known = CheckDriverDevice(ordinal); !known.ok()) return known;
    *device = ordinal;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuDeviceGetName(char* name, int bytes, int device) {
  return DriverCall("cuDeviceGetName", [&]() -> Answer {
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    return CopyText(FactsOf(device).name, name, bytes);
  });
}

RINGLET_DRIVER_FUNCTION int cuDeviceGetUuid_v2(UuidBytes* uuid, int device) {
  return DriverCall("cuDeviceGetUuid", [&]() -> Answer {
    if (uuid == nullptr) return NullArgument();
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    uuid->bytes = FactsOf(device).uuid;
    return Done();
  });
}

// Some programs look up the name without its version.
RINGLET_DRIVER_FUNCTION int cuDeviceGetUuid(UuidBytes* uuid, int device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

RINGLET_DRIVER_FUNCTION int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return DriverCall("cuDeviceTotalMem", [&]() -> Answer {
    if (bytes == nullptr) return NullArgument();
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    *bytes = Host().InfoOf(Host().GlobalNumber(static_cast<std::uint32_t>(device))).total;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return DriverCall("cuDeviceGetAttribute", [&]() -> Answer {
    if (value == nullptr) return NullArgument();
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    const auto is = Attribute(attribute, FactsOf(device));
    if (!is)
      return {CudaCode::kInvalidValue, fmt::format("attribute {} does not exist", attribute)};
    *value = *is;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuDeviceComputeCapability(int* major, int* minor, int device) {
  return DriverCall("cuDeviceComputeCapability", [&]() -> Answer {
    if (major == nullptr || minor == nullptr) return NullArgument();
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    *major = FactsOf(device).capability_major();
    *minor = FactsOf(device).capability_minor();
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuDeviceGetPCIBusId(char* text, int bytes, int device) {
  return DriverCall("cuDeviceGetPCIBusId", [&]() -> Answer {
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    return CopyText(PciText(FactsOf(device).pci), text, bytes);
  });
}

RINGLET_DRIVER_FUNCTION int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return DriverCall("cuDeviceCanAccessPeer", [&]() -> Answer {
    if (can == nullptr) return NullArgument();
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    if (const Answer known = CheckDriverDevice(peer); !known.ok()) return known;
    const PeerPath way =
        Host().Peer(static_cast<std::uint32_t>(device), static_cast<std::uint32_t>(peer));
    *can = way != PeerPath::kNone ? 1 : 0;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuDeviceGetByPCIBusId(int* device, const char* text) {
  return DriverCall("cuDeviceGetByPCIBusId", [&]() -> Answer {
    if (device == nullptr || text == nullptr) return NullArgument();
    const auto place = ParsePci(text);
    for (std::uint32_t index = 0; place && index < Host().devices(); ++index)
      if (Host().FactsOf(index).pci == *place) {
        *device = static_cast<int>(index);
        return Done();
      }
    return {CudaCode::kInvalidDevice, fmt::format("a device at {} does not exist", text)};
  });
}

RINGLET_DRIVER_FUNCTION int cuDevicePrimaryCtxRetain(Context* context, int device) {
  return DriverCall("cuDevicePrimaryCtxRetain", [&]() -> Answer {
    if (context == nullptr) return NullArgument();
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    *context = ContextOf(device);
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuDevicePrimaryCtxRelease_v2(int device) {
  return DriverCall("cuDevicePrimaryCtxRelease", [&] { return CheckDriverDevice(device); });
}

// A device is always active.
RINGLET_DRIVER_FUNCTION int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return DriverCall("cuDevicePrimaryCtxGetState", [&]() -> Answer {
    if (flags == nullptr || active == nullptr) return NullArgument();
    if (const Answer known = CheckDriverDevice(device); !known.ok()) return known;
    *flags = 0;
    *active = 1;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuCtxGetCurrent(Context* context) {
  return DriverCall("cuCtxGetCurrent", [&]() -> Answer {
    if (context == nullptr) return NullArgument();
    *context = ContextOf(CurrentDevice());
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuCtxSetCurrent(Context context) {
  return DriverCall("cuCtxSetCurrent", [&]() -> Answer {
    if (context == nullptr) {
      contexts.clear();
      return Done();
    }
    const Answer made = MakeCurrent(context);
    if (made.ok() && contexts.empty()) contexts.push_back(context);
    if (made.ok()) contexts.back() = context;
    return made;
  });
}

RINGLET_DRIVER_FUNCTION int cuCtxPushCurrent_v2(Context context) {
  return DriverCall("cuCtxPushCurrent", [&]() -> Answer {
    const Context before = ContextOf(CurrentDevice());
    const Answer made = MakeCurrent(context);
    if (!made.ok()) return made;
    if (contexts.empty()) contexts.push_back(before);
    contexts.push_back(context);
    return made;
  });
}

RINGLET_DRIVER_FUNCTION int cuCtxPopCurrent_v2(Context* context) {
  return DriverCall("cuCtxPopCurrent", [&]() -> Answer {
    if (contexts.empty())
      return {static_cast<CudaCode>(kInvalidContext), "the stack of contexts is empty"};
    if (context != nullptr) *context = contexts.back();
    contexts.pop_back();
    return contexts.empty() ? Done() : MakeCurrent(contexts.back());
  });
}

RINGLET_DRIVER_FUNCTION int cuCtxGetDevice(int* device) {
  return DriverCall("cuCtxGetDevice", [&]() -> Answer {
    if (device == nullptr) return NullArgument();
    *device = CurrentDevice();
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuCtxSynchronize() {
  return DriverCall("cuCtxSynchronize",
                    [] { return FromStream(ringletStreamSynchronizeDevice(CurrentDevice())); });
}

RINGLET_DRIVER_FUNCTION int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = kPriorityLeast;
  if (greatest != nullptr) *greatest = kPriorityGreatest;
  return 0;
}

}  // namespace ringlet::cuda
