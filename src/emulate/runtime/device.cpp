// Devices: number, current device, properties and peer access.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "emulate/host/device_facts.hpp"
#include "emulate/runtime/call.hpp"

namespace ringlet::cuda {
namespace {

// Copies `text` into a field of `bytes`, truncated and terminated for C.
void CopyText(std::string_view text, char* field, std::size_t bytes) {
  const std::size_t count = std::min(text.size(), bytes - 1);
  std::memcpy(field, text.data(), count);
  field[count] = '\0';
}

void FillLimits(DeviceProperties& is, const CudaDeviceFacts& device) {
  const CapabilityLimits& limits = LimitsOf(device.capability);
  is.shared_bytes_per_block = kSharedBytesPerBlock;
  is.registers_per_block = kRegisters;
  is.warp_size = kWarpSize;
  is.pitch_max = kPitchMax;
  is.threads_per_block_max = kThreadsPerBlockMax;
  is.block_max = kBlockMax;
  is.grid_max = kGridMax;
  is.constant_bytes = kConstantBytes;
  is.major = device.capability_major();
  is.minor = device.capability_minor();
  is.texture_alignment = 512;
  is.texture_pitch_alignment = 32;
  is.processors = device.processors;
  is.surface_alignment = 512;
  is.memory_bus_bits = 64;
  is.cache_bytes = kCacheBytes;
  is.threads_per_processor_max = limits.threads_per_processor;
  is.shared_bytes_per_processor = static_cast<std::size_t>(limits.shared_bytes_per_processor);
  is.registers_per_processor = kRegisters;
  is.shared_bytes_per_block_opt_in = static_cast<std::size_t>(limits.shared_bytes_per_block_opt_in);
  is.blocks_per_processor_max = limits.blocks_per_processor;
  is.shared_bytes_reserved = static_cast<std::size_t>(limits.shared_bytes_reserved);
}

DeviceProperties PropertiesOf(std::uint32_t device) {
  DeviceProperties is{};
  const CudaDeviceFacts& facts = Host().FactsOf(device);
  CopyText(facts.name, is.name.data(), is.name.size());
  is.uuid = facts.uuid;
  is.memory_bytes = Host().InfoOf(Host().GlobalNumber(device)).total;
  FillLimits(is, facts);
#if RINGLET_CUDART < 13
  is.overlaps_copies = 1;
  is.clock_khz = is.memory_clock_khz = 1'000'000;
#endif
  is.maps_host_memory = is.concurrent_kernels = is.unified_addresses = 1;
  is.pci_bus = facts.pci.bus;
  is.pci_device = facts.pci.device;
  is.pci_domain = static_cast<int>(facts.pci.domain);
  is.copy_engines = is.stream_priorities = is.managed_memory = 1;
  is.host_atomics = is.pageable_access = is.concurrent_managed_access = 1;
  is.host_pointers_of_registered = is.pageable_by_host_tables = is.direct_managed_access = 1;
  is.registers_host_memory = is.registers_read_only = 1;
  return is;
}

int WriteProperties(const char* function, DeviceProperties* properties, int device) {
  return Call(function, [&]() -> Answer {
    if (properties == nullptr) return IsNull("prop");
    if (const Answer known = CheckDevice(device); !known.ok()) return known;
    *properties = PropertiesOf(static_cast<std::uint32_t>(device));
    return Done();
  });
}

Answer CheckPair(int a, int b) {
  const Answer first = CheckDevice(a);
  return first.ok() ? CheckDevice(b) : first;
}

/// \pre CheckPair has passed
PeerPath WayBetween(int from, int to) {
  return Host().Peer(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to));
}

// cudaDeviceP2PAttr: rank of the link (0 is best), access, atomics, arrays, partial atomics.
using PeerAttributes = std::array<int, 5>;
PeerAttributes PeerAttributesOf(PeerPath way) {
  switch (way) {
    case PeerPath::kNvLink: return {0, 1, 1, 0, 1};
    case PeerPath::kPci: return {1, 1, 0, 0, 0};
    case PeerPath::kNone: break;
  }
  return {2, 0, 0, 0, 0};
}

// The values of cudaLimit: stack, printf, heap, depth, launches, fetch, persisting cache.
std::array<std::atomic<std::size_t>, 7> limit_values = {1024, 1 << 20, 8 << 20, 0, 0, 0, 0};

std::atomic<unsigned> device_flags{0};

}  // namespace

RINGLET_CUDA_FUNCTION int cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = static_cast<int>(Host().devices());
  return Call("cudaGetDeviceCount", [&] { return count == nullptr ? IsNull("count") : Done(); });
}

RINGLET_CUDA_FUNCTION int cudaSetDevice(int device) {
  return Call("cudaSetDevice", [&]() -> Answer {
    if (const Answer known = CheckDevice(device); !known.ok()) return known;
    return FromStream(ringletStreamSetDevice(device));
  });
}

RINGLET_CUDA_FUNCTION int cudaGetDevice(int* device) {
  return Call("cudaGetDevice", [&]() -> Answer {
    if (device == nullptr) return IsNull("device");
    *device = CurrentDevice();
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaInitDevice(int device, unsigned, unsigned) {
  return Call("cudaInitDevice", [&] { return CheckDevice(device); });
}

RINGLET_CUDA_FUNCTION int cudaDeviceSynchronize() {
  return Call("cudaDeviceSynchronize",
              [] { return FromStream(ringletStreamSynchronizeDevice(CurrentDevice())); });
}

RINGLET_CUDA_FUNCTION int cudaDeviceReset() {
  return Call("cudaDeviceReset", []() -> Answer {
    const Answer waited = FromStream(ringletStreamSynchronizeDevice(CurrentDevice()));
    Host().memory().FreeAll(CurrentIndex());
    return waited;
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return Call("cudaDeviceGetAttribute", [&]() -> Answer {
    if (value == nullptr) return IsNull("value");
    if (const Answer known = CheckDevice(device); !known.ok()) return known;
    const auto is = Attribute(attribute, Host().FactsOf(static_cast<std::uint32_t>(device)));
    if (!is)
      return {CudaCode::kInvalidValue, fmt::format("attribute {} does not exist", attribute)};
    *value = *is;
    return Done();
  });
}

#if RINGLET_CUDART >= 13
RINGLET_CUDA_FUNCTION int cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  return WriteProperties("cudaGetDeviceProperties", properties, device);
}
#else
RINGLET_CUDA_FUNCTION int cudaGetDeviceProperties_v2(DeviceProperties* properties, int device) {
  return WriteProperties("cudaGetDeviceProperties", properties, device);
}
#endif

RINGLET_CUDA_FUNCTION int cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return Call("cudaDeviceGetPCIBusId", [&]() -> Answer {
    if (text == nullptr) return IsNull("pciBusId");
    if (const Answer known = CheckDevice(device); !known.ok()) return known;
    const std::string address = PciText(Host().FactsOf(static_cast<std::uint32_t>(device)).pci);
    if (std::cmp_less_equal(bytes, address.size())) return Invalid("len is too small");
    CopyText(address, text, static_cast<std::size_t>(bytes));
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return Call("cudaDeviceGetByPCIBusId", [&]() -> Answer {
    if (device == nullptr || text == nullptr) return IsNull("an argument");
    const auto place = ParsePci(text);
    for (std::uint32_t index = 0; place && index < Host().devices(); ++index)
      if (Host().FactsOf(index).pci == *place) {
        *device = static_cast<int>(index);
        return Done();
      }
    return {CudaCode::kInvalidDevice, fmt::format("a device at {} does not exist", text)};
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return Call("cudaDeviceCanAccessPeer", [&]() -> Answer {
    if (can == nullptr) return IsNull("canAccessPeer");
    if (const Answer known = CheckPair(device, peer); !known.ok()) return known;
    *can = WayBetween(device, peer) != PeerPath::kNone ? 1 : 0;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return Call("cudaDeviceEnablePeerAccess", [&]() -> Answer {
    if (flags != 0) return Invalid("flags is not 0");
    if (const Answer known = CheckDevice(peer); !known.ok()) return known;
    return Host().EnablePeer(CurrentIndex(), static_cast<std::uint32_t>(peer));
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceDisablePeerAccess(int peer) {
  return Call("cudaDeviceDisablePeerAccess", [&]() -> Answer {
    if (const Answer known = CheckDevice(peer); !known.ok()) return known;
    return Host().DisablePeer(CurrentIndex(), static_cast<std::uint32_t>(peer));
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return Call("cudaDeviceGetP2PAttribute", [&]() -> Answer {
    if (value == nullptr) return IsNull("value");
    if (const Answer known = CheckPair(from, to); !known.ok()) return known;
    if (from == to) return {CudaCode::kInvalidDevice, "a device cannot be its own peer"};
    const PeerAttributes values = PeerAttributesOf(WayBetween(from, to));
    if (attribute < 1 || std::cmp_greater(attribute, values.size()))
      return Invalid("unknown attribute");
    *value = values[static_cast<std::size_t>(attribute - 1)];
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return Call("cudaDeviceGetStreamPriorityRange", [&] {
    if (least != nullptr) *least = kPriorityLeast;
    if (greatest != nullptr) *greatest = kPriorityGreatest;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceGetLimit(std::size_t* value, int limit) {
  return Call("cudaDeviceGetLimit", [&]() -> Answer {
    if (value == nullptr) return IsNull("pValue");
    if (limit < 0 || std::cmp_greater_equal(limit, limit_values.size()))
      return {CudaCode::kUnsupportedLimit, fmt::format("limit {} does not exist", limit)};
    *value = limit_values[static_cast<std::size_t>(limit)];
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceSetLimit(int limit, std::size_t value) {
  return Call("cudaDeviceSetLimit", [&]() -> Answer {
    if (limit < 0 || std::cmp_greater_equal(limit, limit_values.size()))
      return {CudaCode::kUnsupportedLimit, fmt::format("limit {} does not exist", limit)};
    limit_values[static_cast<std::size_t>(limit)] = value;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaSetDeviceFlags(unsigned flags) {
  return Call("cudaSetDeviceFlags", [&] {
    device_flags = flags;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaGetDeviceFlags(unsigned* flags) {
  return Call("cudaGetDeviceFlags", [&]() -> Answer {
    if (flags == nullptr) return IsNull("flags");
    *flags = device_flags;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaDeviceSetCacheConfig(int) {
  return Call("cudaDeviceSetCacheConfig", [] { return Done(); });
}

}  // namespace ringlet::cuda
