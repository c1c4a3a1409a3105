// Memory: allocation, registration, attributes, sharing with other processes.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "emulate/runtime/call.hpp"

namespace ringlet::cuda {
namespace {

/// CUDA's number for "no device".
constexpr int kNoDeviceNumber = -2;
constexpr std::size_t kPitchAlignment = 512;

Answer Allocate(const char* name, void** pointer, std::size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) return IsNull(name);
  if (const Answer may = CheckCapture(); !may.ok()) return may;
  auto memory = Host().memory().AllocateDevice(CurrentIndex(), bytes, kind);
  if (!memory.ok()) return ToAnswer(memory.error());
  *pointer = *memory;
  return Done();
}

// As CUDA does, waits for the device before it frees memory. Captures of other threads continue.
Answer FreeNow(void* pointer) {
  if (pointer == nullptr) return Done();
  if (const Answer may = CheckCapture(); !may.ok()) return may;
  const auto block = Host().memory().Find(pointer);
  if (block) static_cast<void>(ringletStreamAwaitDevice(static_cast<int>(block->device)));
  const Status freed = Host().memory().Free(pointer, MemoryKind::kDevice);
  return freed.ok() ? Done() : ToAnswer(freed.error());
}

Answer AllocateHost(void** pointer, std::size_t bytes, unsigned flags) {
  if (pointer == nullptr) return IsNull("pHost");
  if (const Answer may = CheckCapture(); !may.ok()) return may;
  auto memory = Host().memory().AllocatePinned(bytes, flags);
  if (!memory.ok()) return ToAnswer(memory.error());
  *pointer = *memory;
  return Done();
}

PointerType TypeOf(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kManaged: return PointerType::kManaged;
    case MemoryKind::kPinned:
    case MemoryKind::kRegistered: return PointerType::kHost;
    case MemoryKind::kDevice:
    case MemoryKind::kImported:
    case MemoryKind::kOfNccl:
    case MemoryKind::kVariable: return PointerType::kDevice;
  }
  return PointerType::kUnregistered;
}

PointerAttributes AttributesOf(void* pointer) {
  PointerAttributes is{};
  const auto block = Host().memory().Find(pointer);
  is.type = block ? TypeOf(block->kind) : PointerType::kUnregistered;
  is.device = block ? static_cast<int>(block->device) : kNoDeviceNumber;
  is.device_pointer = block ? pointer : nullptr;
  is.host_pointer = is.type == PointerType::kDevice ? nullptr : pointer;
  return is;
}

bool IsOfHost(const std::optional<MemoryBlock>& block) {
  return block && TypeOf(block->kind) == PointerType::kHost;
}

Answer CheckAllocated(const void* pointer, std::size_t bytes) {
  if (!Host().memory().Find(pointer)) return Invalid("CUDA does not know this memory");
  const Status fits = Host().memory().Check(pointer, bytes);
  return fits.ok() ? Done() : ToAnswer(fits.error());
}

}  // namespace

RINGLET_CUDA_FUNCTION int cudaMalloc(void** pointer, std::size_t bytes) {
  return Call("cudaMalloc",
              [&] { return Allocate("devPtr", pointer, bytes, MemoryKind::kDevice); });
}

RINGLET_CUDA_FUNCTION int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return Call("cudaMallocManaged", [&]() -> Answer {
    if (flags != 1 && flags != 2) return Invalid("flags is neither global nor host");
    if (bytes == 0) return Invalid("size is 0");
    return Allocate("devPtr", pointer, bytes, MemoryKind::kManaged);
  });
}

RINGLET_CUDA_FUNCTION int cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                          std::size_t height) {
  return Call("cudaMallocPitch", [&]() -> Answer {
    if (pitch == nullptr) return IsNull("pitch");
    std::size_t row = 0, bytes = 0;
    if (__builtin_add_overflow(width, kPitchAlignment - 1, &row) ||
        __builtin_mul_overflow(row / kPitchAlignment * kPitchAlignment, height, &bytes))
      return Invalid("the size exceeds any memory");
    *pitch = row / kPitchAlignment * kPitchAlignment;
    return Allocate("devPtr", pointer, bytes, MemoryKind::kDevice);
  });
}

RINGLET_CUDA_FUNCTION int cudaFree(void* pointer) {
  return Call("cudaFree", [&] { return FreeNow(pointer); });
}

RINGLET_CUDA_FUNCTION int cudaMallocAsync(void** pointer, std::size_t bytes,
                                          ringletStream_t stream) {
  return Call("cudaMallocAsync", [&]() -> Answer {
    if (Captures(stream))
      return {CudaCode::kNotSupported,
              "graphs cannot allocate memory: allocate before the capture"};
    int device = 0;
    const Answer known = FromStream(ringletStreamGetDeviceOf(stream, &device));
    if (!known.ok()) return known;
    if (pointer == nullptr) return IsNull("devPtr");
    auto memory = Host().memory().AllocateDevice(static_cast<std::uint32_t>(device), bytes);
    if (!memory.ok()) return ToAnswer(memory.error());
    *pointer = *memory;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaFreeAsync(void* pointer, ringletStream_t stream) {
  return Call("cudaFreeAsync", [&]() -> Answer {
    if (pointer == nullptr) return Done();
    if (Captures(stream))
      return {CudaCode::kNotSupported, "graphs cannot free memory: free it after the capture"};
    const auto block = Host().memory().Find(pointer);
    if (!block || block->begin != pointer || block->kind != MemoryKind::kDevice)
      return Invalid("the pointer is not the start of memory of cudaMalloc");
    return Enqueue(stream, [pointer] {
      // If it was freed meanwhile, the next use of the memory reports the error.
      static_cast<void>(Host().memory().Free(pointer, MemoryKind::kDevice));
    });
  });
}

RINGLET_CUDA_FUNCTION int cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return Call("cudaHostAlloc", [&] { return AllocateHost(pointer, bytes, flags); });
}

RINGLET_CUDA_FUNCTION int cudaMallocHost(void** pointer, std::size_t bytes) {
  return Call("cudaMallocHost", [&] { return AllocateHost(pointer, bytes, 0); });
}

RINGLET_CUDA_FUNCTION int cudaFreeHost(void* pointer) {
  return Call("cudaFreeHost", [&]() -> Answer {
    if (pointer == nullptr) return Done();
    if (const Answer may = CheckCapture(); !may.ok()) return may;
    if (!IsOfHost(Host().memory().Find(pointer)))
      return Invalid("the pointer is not memory of cudaHostAlloc");
    for (std::uint32_t device = 0; device < Host().devices(); ++device)
      static_cast<void>(ringletStreamAwaitDevice(static_cast<int>(device)));
    const Status freed = Host().memory().Free(pointer, MemoryKind::kPinned);
    return freed.ok() ? Done() : ToAnswer(freed.error());
  });
}

RINGLET_CUDA_FUNCTION int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return Call("cudaHostRegister", [&]() -> Answer {
    const bool known = pointer != nullptr && Host().memory().Find(pointer).has_value();
    const Status done = Host().memory().Register(pointer, bytes, MemoryKind::kRegistered, flags);
    if (done.ok()) return Done();
    return ToAnswer(done.error(),
                    known ? CudaCode::kHostMemoryAlreadyRegistered : CudaCode::kInvalidValue);
  });
}

RINGLET_CUDA_FUNCTION int cudaHostUnregister(void* pointer) {
  return Call("cudaHostUnregister", [&]() -> Answer {
    const Status done = Host().memory().Unregister(pointer);
    return done.ok() ? Done() : ToAnswer(done.error(), CudaCode::kHostMemoryNotRegistered);
  });
}

RINGLET_CUDA_FUNCTION int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return Call("cudaHostGetDevicePointer", [&]() -> Answer {
    if (device == nullptr) return IsNull("pDevice");
    if (!IsOfHost(Host().memory().Find(host)))
      return Invalid("the pointer is not pinned or registered memory");
    *device = host;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaHostGetFlags(unsigned* flags, void* host) {
  return Call("cudaHostGetFlags", [&]() -> Answer {
    if (flags == nullptr) return IsNull("pFlags");
    const auto block = Host().memory().Find(host);
    if (!IsOfHost(block)) return Invalid("the pointer is not pinned or registered memory");
    *flags = block->flags;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return Call("cudaMemGetInfo", [&]() -> Answer {
    if (free == nullptr || total == nullptr) return IsNull("an argument");
    const MemoryInfo info = Host().InfoOf(Host().GlobalNumber(CurrentIndex()));
    *free = info.free;
    *total = info.total;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaPointerGetAttributes(PointerAttributes* attributes,
                                                   const void* pointer) {
  return Call("cudaPointerGetAttributes", [&]() -> Answer {
    if (attributes == nullptr) return IsNull("attributes");
    *attributes = AttributesOf(const_cast<void*>(pointer));
    return Done();
  });
}

// Memory has one location, so prefetch and advice are ignored.
#if RINGLET_CUDART >= 13
RINGLET_CUDA_FUNCTION int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes,
                                               MemoryLocation, unsigned, ringletStream_t) {
#else
RINGLET_CUDA_FUNCTION int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int,
                                               ringletStream_t) {
#endif
  return Call("cudaMemPrefetchAsync", [&] { return CheckAllocated(pointer, bytes); });
}

#if RINGLET_CUDART >= 13
RINGLET_CUDA_FUNCTION int cudaMemAdvise(const void* pointer, std::size_t bytes, int,
                                        MemoryLocation) {
#else
RINGLET_CUDA_FUNCTION int cudaMemAdvise(const void* pointer, std::size_t bytes, int, int) {
#endif
  return Call("cudaMemAdvise", [&] { return CheckAllocated(pointer, bytes); });
}

RINGLET_CUDA_FUNCTION int cudaIpcGetMemHandle(IpcBytes* handle, void* pointer) {
  return Call("cudaIpcGetMemHandle", [&]() -> Answer {
    if (handle == nullptr) return IsNull("handle");
    const auto exported = Host().memory().Export(pointer);
    if (!exported.ok()) return ToAnswer(exported.error());
    handle->bytes = *exported;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaIpcOpenMemHandle(void** pointer, IpcBytes handle, unsigned flags) {
  return Call("cudaIpcOpenMemHandle", [&]() -> Answer {
    constexpr unsigned kLazyPeerAccess = 1;
    if (pointer == nullptr) return IsNull("devPtr");
    if (flags != kLazyPeerAccess) return Invalid("flags is not cudaIpcMemLazyEnablePeerAccess");
    auto memory = Host().memory().Import(handle.bytes);
    if (!memory.ok()) {
      const bool other = memory.error().code == Code::kSystem;
      return other ? Answer{CudaCode::kMapFailed, memory.error().message}
                   : ToAnswer(memory.error(), CudaCode::kDeviceUninitialized);
    }
    *pointer = *memory;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaIpcCloseMemHandle(void* pointer) {
  return Call("cudaIpcCloseMemHandle", [&]() -> Answer {
    const auto block = Host().memory().Find(pointer);
    if (block) static_cast<void>(ringletStreamAwaitDevice(static_cast<int>(block->device)));
    const Status closed = Host().memory().Close(pointer);
    return closed.ok() ? Done() : ToAnswer(closed.error());
  });
}

}  // namespace ringlet::cuda
