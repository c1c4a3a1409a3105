// Copies and fills, immediate and in streams.
#include <cstring>
#include <memory>
#include <vector>

#include "emulate/runtime/call.hpp"

namespace ringlet::cuda {
namespace {

/// A copy of `height` rows of `width` bytes; one row if it is linear.
struct CopyPlan {
  std::byte* target = nullptr;
  std::size_t target_pitch = 0;
  const std::byte* source = nullptr;
  std::size_t source_pitch = 0;
  std::size_t width = 0, height = 1;
};

void Carry(const CopyPlan& plan) {
  for (std::size_t row = 0; row < plan.height; ++row)
    std::memmove(plan.target + row * plan.target_pitch, plan.source + row * plan.source_pitch,
                 plan.width);
}

struct FillPlan {
  std::byte* target = nullptr;
  std::size_t pitch = 0, width = 0, height = 1;
  int value = 0;
};

void Carry(const FillPlan& plan) {
  for (std::size_t row = 0; row < plan.height; ++row)
    std::memset(plan.target + row * plan.pitch, plan.value, plan.width);
}

// Returns the bytes from the start of the first row to the end of the last one.
Result<std::size_t> Extent(std::size_t pitch, std::size_t width, std::size_t height) {
  std::size_t bytes = 0;
  if (height == 0 || width == 0) return bytes;
  if (__builtin_mul_overflow(pitch, height - 1, &bytes) ||
      __builtin_add_overflow(bytes, width, &bytes))
    return Error{Code::kInvalidArgument, "the size exceeds any memory"};
  return bytes;
}

Answer CheckRows(const void* begin, std::size_t pitch, std::size_t width, std::size_t height) {
  if (height > 1 && pitch < width) return {CudaCode::kInvalidPitch, "a pitch is below the width"};
  const auto bytes = Extent(pitch, width, height);
  if (!bytes.ok()) return ToAnswer(bytes.error());
  if (*bytes == 0) return Done();
  if (begin == nullptr) return IsNull("an address");
  const Status fits = Host().memory().Check(begin, *bytes);
  return fits.ok() ? Done() : ToAnswer(fits.error());
}

/// True for memory unknown to CUDA. The program may free it after the call.
bool IsPageable(const void* pointer) {
  return !Host().memory().Find(pointer).has_value();
}

Answer CheckKind(const CopyPlan& plan, CopyKind kind) {
  const bool to = kind == CopyKind::kHostToDevice || kind == CopyKind::kDeviceToDevice;
  const bool from = kind == CopyKind::kDeviceToHost || kind == CopyKind::kDeviceToDevice;
  if (static_cast<int>(kind) < 0 || static_cast<int>(kind) > static_cast<int>(CopyKind::kDefault))
    return {CudaCode::kInvalidMemcpyDirection, "unknown kind of copy"};
  if (to && IsPageable(plan.target)) return Invalid("dst is not device memory");
  if (from && IsPageable(plan.source)) return Invalid("src is not device memory");
  return Done();
}

Answer CheckCopy(const CopyPlan& plan, CopyKind kind) {
  Answer fits = CheckRows(plan.target, plan.target_pitch, plan.width, plan.height);
  if (fits.ok()) fits = CheckRows(plan.source, plan.source_pitch, plan.width, plan.height);
  return fits.ok() && plan.width > 0 && plan.height > 0 ? CheckKind(plan, kind) : fits;
}

// Copies the source immediately, because its memory may be freed before the stream runs the copy.
Answer EnqueueStaged(CopyPlan plan, ringletStream_t stream) {
  auto staged = std::make_shared<std::vector<std::byte>>(plan.width * plan.height);
  Carry(CopyPlan{.target = staged->data(),
                 .target_pitch = plan.width,
                 .source = plan.source,
                 .source_pitch = plan.source_pitch,
                 .width = plan.width,
                 .height = plan.height});
  plan.source = staged->data();
  plan.source_pitch = plan.width;
  return Enqueue(stream, [plan, staged] { Carry(plan); });
}

Answer CopyInStream(const CopyPlan& plan, CopyKind kind, ringletStream_t stream) {
  const Answer fits = CheckCopy(plan, kind);
  if (!fits.ok() || plan.width == 0 || plan.height == 0) return fits;
  if (Captures(stream)) return Enqueue(stream, [plan] { Carry(plan); });
  // As in CUDA, a copy into pageable memory is complete on return.
  if (IsPageable(plan.target)) return EnqueueAndWait(stream, [plan] { Carry(plan); });
  if (IsPageable(plan.source)) return EnqueueStaged(plan, stream);
  return Enqueue(stream, [plan] { Carry(plan); });
}

Answer CopyNow(const CopyPlan& plan, CopyKind kind) {
  const Answer fits = CheckCopy(plan, kind);
  if (!fits.ok() || plan.width == 0 || plan.height == 0) return fits;
  return EnqueueAndWait(nullptr, [plan] { Carry(plan); });
}

Answer CheckFill(const FillPlan& plan) {
  const Answer fits = CheckRows(plan.target, plan.pitch, plan.width, plan.height);
  if (!fits.ok() || plan.width == 0 || plan.height == 0) return fits;
  return IsPageable(plan.target) ? Invalid("devPtr is not device memory") : Done();
}

Answer FillInStream(const FillPlan& plan, ringletStream_t stream) {
  const Answer fits = CheckFill(plan);
  if (!fits.ok() || plan.width == 0 || plan.height == 0) return fits;
  return Enqueue(stream, [plan] { Carry(plan); });
}

// As in CUDA, device memory is filled later, other memory before the call returns.
Answer FillNow(const FillPlan& plan) {
  const Answer fits = CheckFill(plan);
  if (!fits.ok() || plan.width == 0 || plan.height == 0) return fits;
  const auto block = Host().memory().Find(plan.target);
  if (block && block->kind == MemoryKind::kDevice) return FillInStream(plan, nullptr);
  return EnqueueAndWait(nullptr, [plan] { Carry(plan); });
}

CopyPlan Linear(void* target, const void* source, std::size_t bytes) {
  return {.target = static_cast<std::byte*>(target),
          .target_pitch = 0,
          .source = static_cast<const std::byte*>(source),
          .source_pitch = 0,
          .width = bytes,
          .height = 1};
}

CopyPlan Rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
              std::size_t width, std::size_t height) {
  return {.target = static_cast<std::byte*>(target),
          .target_pitch = target_pitch,
          .source = static_cast<const std::byte*>(source),
          .source_pitch = source_pitch,
          .width = width,
          .height = height};
}

FillPlan Fill(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return {.target = static_cast<std::byte*>(target),
          .pitch = pitch,
          .width = width,
          .height = height,
          .value = value};
}

// Checks a variable of the program. Its device address equals its host address.
Answer CheckSymbol(const void* symbol, std::size_t offset, std::size_t bytes) {
  const auto block = Host().memory().Find(symbol);
  if (!block || block->kind != MemoryKind::kVariable)
    return {CudaCode::kInvalidSymbol, "the symbol is not a __device__ variable of the program"};
  if (offset > block->bytes || bytes > block->bytes - offset)
    return Invalid("the copy ends beyond the variable");
  return Done();
}

const std::byte* At(const void* begin, std::size_t offset) {
  return static_cast<const std::byte*>(begin) + offset;
}

std::byte* PlaceOf(const void* symbol, std::size_t offset) {
  return static_cast<std::byte*>(const_cast<void*>(symbol)) + offset;
}

}  // namespace

RINGLET_CUDA_FUNCTION int cudaMemcpy(void* target, const void* source, std::size_t bytes,
                                     CopyKind kind) {
  return Call("cudaMemcpy", [&] { return CopyNow(Linear(target, source, bytes), kind); });
}

RINGLET_CUDA_FUNCTION int cudaMemcpyAsync(void* target, const void* source, std::size_t bytes,
                                          CopyKind kind, ringletStream_t stream) {
  return Call("cudaMemcpyAsync",
              [&] { return CopyInStream(Linear(target, source, bytes), kind, stream); });
}

RINGLET_CUDA_FUNCTION int cudaMemcpyPeer(void* target, int target_device, const void* source,
                                         int source_device, std::size_t bytes) {
  return Call("cudaMemcpyPeer", [&]() -> Answer {
    if (const Answer known = CheckDevice(target_device); !known.ok()) return known;
    if (const Answer known = CheckDevice(source_device); !known.ok()) return known;
    return CopyNow(Linear(target, source, bytes), CopyKind::kDeviceToDevice);
  });
}

RINGLET_CUDA_FUNCTION int cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                              int source_device, std::size_t bytes,
                                              ringletStream_t stream) {
  return Call("cudaMemcpyPeerAsync", [&]() -> Answer {
    if (const Answer known = CheckDevice(target_device); !known.ok()) return known;
    if (const Answer known = CheckDevice(source_device); !known.ok()) return known;
    return CopyInStream(Linear(target, source, bytes), CopyKind::kDeviceToDevice, stream);
  });
}

RINGLET_CUDA_FUNCTION int cudaMemcpy2D(void* target, std::size_t target_pitch, const void* source,
                                       std::size_t source_pitch, std::size_t width,
                                       std::size_t height, CopyKind kind) {
  return Call("cudaMemcpy2D", [&] {
    return CopyNow(Rows(target, target_pitch, source, source_pitch, width, height), kind);
  });
}

RINGLET_CUDA_FUNCTION int cudaMemcpy2DAsync(void* target, std::size_t target_pitch,
                                            const void* source, std::size_t source_pitch,
                                            std::size_t width, std::size_t height, CopyKind kind,
                                            ringletStream_t stream) {
  return Call("cudaMemcpy2DAsync", [&] {
    return CopyInStream(Rows(target, target_pitch, source, source_pitch, width, height), kind,
                        stream);
  });
}

RINGLET_CUDA_FUNCTION int cudaMemset(void* target, int value, std::size_t bytes) {
  return Call("cudaMemset", [&] { return FillNow(Fill(target, 0, value, bytes, 1)); });
}

RINGLET_CUDA_FUNCTION int cudaMemsetAsync(void* target, int value, std::size_t bytes,
                                          ringletStream_t stream) {
  return Call("cudaMemsetAsync",
              [&] { return FillInStream(Fill(target, 0, value, bytes, 1), stream); });
}

RINGLET_CUDA_FUNCTION int cudaMemset2D(void* target, std::size_t pitch, int value,
                                       std::size_t width, std::size_t height) {
  return Call("cudaMemset2D", [&] { return FillNow(Fill(target, pitch, value, width, height)); });
}

RINGLET_CUDA_FUNCTION int cudaMemset2DAsync(void* target, std::size_t pitch, int value,
                                            std::size_t width, std::size_t height,
                                            ringletStream_t stream) {
  return Call("cudaMemset2DAsync",
              [&] { return FillInStream(Fill(target, pitch, value, width, height), stream); });
}

RINGLET_CUDA_FUNCTION int cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return Call("cudaGetSymbolAddress", [&]() -> Answer {
    if (pointer == nullptr) return IsNull("devPtr");
    if (const Answer known = CheckSymbol(symbol, 0, 0); !known.ok()) return known;
    *pointer = const_cast<void*>(symbol);
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return Call("cudaGetSymbolSize", [&]() -> Answer {
    if (bytes == nullptr) return IsNull("size");
    if (const Answer known = CheckSymbol(symbol, 0, 0); !known.ok()) return known;
    *bytes = Host().memory().Find(symbol)->bytes;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaMemcpyToSymbol(const void* symbol, const void* source,
                                             std::size_t bytes, std::size_t offset, CopyKind kind) {
  return Call("cudaMemcpyToSymbol", [&]() -> Answer {
    if (const Answer known = CheckSymbol(symbol, offset, bytes); !known.ok()) return known;
    return CopyNow(Linear(PlaceOf(symbol, offset), source, bytes), kind);
  });
}

RINGLET_CUDA_FUNCTION int cudaMemcpyToSymbolAsync(const void* symbol, const void* source,
                                                  std::size_t bytes, std::size_t offset,
                                                  CopyKind kind, ringletStream_t stream) {
  return Call("cudaMemcpyToSymbolAsync", [&]() -> Answer {
    if (const Answer known = CheckSymbol(symbol, offset, bytes); !known.ok()) return known;
    return CopyInStream(Linear(PlaceOf(symbol, offset), source, bytes), kind, stream);
  });
}

RINGLET_CUDA_FUNCTION int cudaMemcpyFromSymbol(void* target, const void* symbol, std::size_t bytes,
                                               std::size_t offset, CopyKind kind) {
  return Call("cudaMemcpyFromSymbol", [&]() -> Answer {
    if (const Answer known = CheckSymbol(symbol, offset, bytes); !known.ok()) return known;
    return CopyNow(Linear(target, At(symbol, offset), bytes), kind);
  });
}

RINGLET_CUDA_FUNCTION int cudaMemcpyFromSymbolAsync(void* target, const void* symbol,
                                                    std::size_t bytes, std::size_t offset,
                                                    CopyKind kind, ringletStream_t stream) {
  return Call("cudaMemcpyFromSymbolAsync", [&]() -> Answer {
    if (const Answer known = CheckSymbol(symbol, offset, bytes); !known.ok()) return known;
    return CopyInStream(Linear(target, At(symbol, offset), bytes), kind, stream);
  });
}

}  // namespace ringlet::cuda
