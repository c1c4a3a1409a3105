// The driver: memory and pointers.
#include <fmt/format.h>

#include <cstring>

#include "emulate/driver/driver_call.hpp"

namespace ringlet::cuda {
namespace {

/// The supported numbers of CUpointer_attribute.
enum class PointerQuestion : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kSyncMemops = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
};

enum DriverMemoryType : unsigned { kOfHost = 1, kOfDevice = 2 };

template <typename T>
void Put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
}

bool BelongsToHost(const MemoryBlock& block) {
  return block.kind == MemoryKind::kPinned || block.kind == MemoryKind::kRegistered;
}

Answer WriteAttribute(void* out, int question, const MemoryBlock& block, DevicePointer at) {
  switch (static_cast<PointerQuestion>(question)) {
    case PointerQuestion::kContext:
      Put(out, ContextOf(static_cast<int>(block.device)));
      return Done();
    case PointerQuestion::kMemoryType:
      Put(out, static_cast<unsigned>(BelongsToHost(block) ? kOfHost : kOfDevice));
      return Done();
    case PointerQuestion::kDevicePointer: Put(out, at); return Done();
    case PointerQuestion::kHostPointer:
      if (block.kind != MemoryKind::kManaged && !BelongsToHost(block))
        return {CudaCode::kInvalidValue, "device memory does not have an address on the host"};
      Put(out, ToPointer(at));
      return Done();
    case PointerQuestion::kSyncMemops: Put(out, 0U); return Done();
    case PointerQuestion::kBufferId: Put(out, block.number); return Done();
    case PointerQuestion::kIsManaged:
      Put(out, static_cast<unsigned>(block.kind == MemoryKind::kManaged));
      return Done();
    case PointerQuestion::kDeviceOrdinal: Put(out, static_cast<int>(block.device)); return Done();
    case PointerQuestion::kRangeStart: Put(out, ToAddress(block.begin)); return Done();
    case PointerQuestion::kRangeSize: Put(out, block.bytes); return Done();
    case PointerQuestion::kMapped: Put(out, 1U); return Done();
  }
  return {CudaCode::kNotSupported, fmt::format("pointers do not have attribute {}", question)};
}

// cuPointerGetAttributes returns zeros for memory that CUDA does not know.
void WriteUnknownAttribute(void* out, int question) {
  switch (static_cast<PointerQuestion>(question)) {
    case PointerQuestion::kContext:
    case PointerQuestion::kDevicePointer:
    case PointerQuestion::kHostPointer:
    case PointerQuestion::kBufferId:
    case PointerQuestion::kRangeStart:
    case PointerQuestion::kRangeSize: return Put(out, std::uint64_t{0});
    case PointerQuestion::kDeviceOrdinal: return Put(out, -2);
    case PointerQuestion::kMemoryType:
    case PointerQuestion::kSyncMemops:
    case PointerQuestion::kIsManaged:
    case PointerQuestion::kMapped: break;
  }
  Put(out, 0U);
}

Answer CopyNow(void* target, const void* source, std::size_t bytes, const void* on_device) {
  if (bytes == 0) return Done();
  for (const void* side : {static_cast<const void*>(target), source}) {
    if (side == nullptr) return NullArgument();
    const Status fits = Host().memory().Check(side, bytes);
    if (!fits.ok()) return ToAnswer(fits.error());
  }
  if (!Host().memory().Find(on_device))
    return {CudaCode::kInvalidValue, fmt::format("{} is not device memory", fmt::ptr(on_device))};
  return EnqueueAndWait(nullptr, [=] { std::memmove(target, source, bytes); });
}

}  // namespace

RINGLET_DRIVER_FUNCTION int cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
  return DriverCall("cuMemAlloc", [&]() -> Answer {
    if (pointer == nullptr) return NullArgument();
    if (bytes == 0) return {CudaCode::kInvalidValue, "the size is 0 bytes"};
    if (const Answer may = CheckCapture(); !may.ok()) return may;
    const auto memory =
        Host().memory().AllocateDevice(static_cast<std::uint32_t>(CurrentDevice()), bytes);
    if (!memory.ok()) return ToAnswer(memory.error());
    *pointer = ToAddress(*memory);
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuMemFree_v2(DevicePointer pointer) {
  return DriverCall("cuMemFree", [&]() -> Answer {
    if (pointer == 0) return Done();
    if (const Answer may = CheckCapture(); !may.ok()) return may;
    if (const auto block = Host().memory().Find(ToPointer(pointer)))
      static_cast<void>(ringletStreamAwaitDevice(static_cast<int>(block->device)));
    const Status freed = Host().memory().Free(ToPointer(pointer), MemoryKind::kDevice);
    return freed.ok() ? Done() : ToAnswer(freed.error());
  });
}

RINGLET_DRIVER_FUNCTION int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return DriverCall("cuMemGetInfo", [&]() -> Answer {
    if (free == nullptr || total == nullptr) return NullArgument();
    const auto device = static_cast<std::uint32_t>(CurrentDevice());
    const MemoryInfo info = Host().InfoOf(Host().GlobalNumber(device));
    *free = info.free;
    *total = info.total;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuMemGetAddressRange_v2(DevicePointer* begin, std::size_t* bytes,
                                                    DevicePointer pointer) {
  return DriverCall("cuMemGetAddressRange", [&]() -> Answer {
    const auto block = Host().memory().Find(ToPointer(pointer));
    if (!block) return {CudaCode::kSymbolNotFound, "CUDA does not know this memory"};
    if (begin != nullptr) *begin = ToAddress(block->begin);
    if (bytes != nullptr) *bytes = block->bytes;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuMemcpyHtoD_v2(DevicePointer target, const void* source,
                                            std::size_t bytes) {
  return DriverCall("cuMemcpyHtoD",
                    [&] { return CopyNow(ToPointer(target), source, bytes, ToPointer(target)); });
}

RINGLET_DRIVER_FUNCTION int cuMemcpyDtoH_v2(void* target, DevicePointer source, std::size_t bytes) {
  return DriverCall("cuMemcpyDtoH",
                    [&] { return CopyNow(target, ToPointer(source), bytes, ToPointer(source)); });
}

RINGLET_DRIVER_FUNCTION int cuMemcpyDtoD_v2(DevicePointer target, DevicePointer source,
                                            std::size_t bytes) {
  return DriverCall("cuMemcpyDtoD", [&] {
    return CopyNow(ToPointer(target), ToPointer(source), bytes, ToPointer(target));
  });
}

RINGLET_DRIVER_FUNCTION int cuPointerGetAttribute(void* out, int question, DevicePointer pointer) {
  return DriverCall("cuPointerGetAttribute", [&]() -> Answer {
    if (out == nullptr) return NullArgument();
    const auto block = Host().memory().Find(ToPointer(pointer));
    if (!block) return {CudaCode::kInvalidValue, "CUDA does not know this memory"};
    return WriteAttribute(out, question, *block, pointer);
  });
}

RINGLET_DRIVER_FUNCTION int cuPointerGetAttributes(unsigned count, int* questions, void** outs,
                                                   DevicePointer pointer) {
  return DriverCall("cuPointerGetAttributes", [&]() -> Answer {
    if (questions == nullptr || outs == nullptr) return NullArgument();
    const auto block = Host().memory().Find(ToPointer(pointer));
    for (unsigned i = 0; i < count; ++i) {
      WriteUnknownAttribute(outs[i], questions[i]);
      if (block) static_cast<void>(WriteAttribute(outs[i], questions[i], *block, pointer));
    }
    return Done();
  });
}

}  // namespace ringlet::cuda
