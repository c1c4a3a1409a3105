// The wrapper of libcudart's functions: checks, calls, remembers the error.
#pragma once
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "emulate/host/host_cuda.hpp"
#include "emulate/host/queue.hpp"
#include "emulate/runtime/types.hpp"

#define RINGLET_CUDA_FUNCTION extern "C" RINGLET_API

namespace ringlet::cuda {

/// Returns the runtime's number for an answer and sets it as this thread's error.
inline int SetResult(const char* function, const Answer& answer) {
  if (!answer.ok()) {
    Host().Note(function, answer);
    SetLastError(answer.code);
  }
  return static_cast<int>(answer.code);
}

/// Runs `body`. No exception crosses into C.
template <typename Body>
int Call(const char* function, Body&& body) noexcept {
  try {
    if (Host().devices() == 0)
      return SetResult(function, {CudaCode::kNoDevice, "no device is visible"});
    return SetResult(function, std::forward<Body>(body)());
  } catch (const std::bad_alloc&) {
    // A note needs memory; the caller gets the code without one.
    SetLastError(CudaCode::kMemoryAllocation);
    return static_cast<int>(CudaCode::kMemoryAllocation);
  } catch (const std::exception& error) {
    return SetResult(function, {CudaCode::kUnknown, std::string("unexpected: ") + error.what()});
  }
}

inline Answer Invalid(const char* why) {
  return {CudaCode::kInvalidValue, why};
}

/// The answer for a null output.
inline Answer IsNull(const char* name) {
  return {CudaCode::kInvalidValue, std::string(name) + " is NULL"};
}

inline Answer CheckDevice(int device) {
  if (device >= 0 && std::cmp_less(device, Host().devices())) return Done();
  return {CudaCode::kInvalidDevice, "unknown device " + std::to_string(device)};
}

inline std::uint32_t CurrentIndex() {
  return static_cast<std::uint32_t>(CurrentDevice());
}

}  // namespace ringlet::cuda
