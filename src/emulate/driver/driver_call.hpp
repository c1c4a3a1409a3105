// The wrapper of libcuda's functions, and their contexts.
#pragma once
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "emulate/host/host_cuda.hpp"
#include "emulate/host/queue.hpp"

#define RINGLET_DRIVER_FUNCTION extern "C" RINGLET_API

namespace ringlet::cuda {

/// The address of device memory, equal to its host address.
using DevicePointer = unsigned long long;
/// Has a pointer type but is never dereferenced. Each device has one, its primary context.
using Context = void*;

/// Runs `body`. No exception crosses into C.
template <typename Body>
int DriverCall(const char* function, Body&& body) noexcept {
  Answer answer;
  try {
    answer = std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    // A note needs memory; the caller gets the code without one.
    return static_cast<int>(CudaCode::kMemoryAllocation);
  } catch (const std::exception& error) {
    answer = {CudaCode::kUnknown, std::string("unexpected: ") + error.what()};
  }
  if (!answer.ok()) Host().Note(function, answer);
  return static_cast<int>(answer.code);
}

inline Answer NullArgument() {
  return {CudaCode::kInvalidValue, "an argument is NULL"};
}

inline Answer CheckDriverDevice(int device) {
  if (device >= 0 && std::cmp_less(device, Host().devices())) return Done();
  return {CudaCode::kInvalidDevice, "unknown device " + std::to_string(device)};
}

inline void* ToPointer(DevicePointer address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

inline DevicePointer ToAddress(const void* pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}

Context ContextOf(int device);
/// Returns the device of a context; empty if the context is unknown.
std::optional<int> DeviceOf(Context context);

}  // namespace ringlet::cuda
