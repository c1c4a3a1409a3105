// Errors, versions, and lookup of the driver's functions.
#include <cstring>

#include "emulate/host/device_facts.hpp"
#include "emulate/runtime/call.hpp"
#include "os/fs/shared_library.hpp"

namespace ringlet::cuda {
namespace {

constexpr int kRuntimeVersion = RINGLET_CUDART >= 13 ? 13000 : 12080;

enum class EntryPointState : int { kFound, kNoSuchSymbol, kOtherVersion };

using FindDriverFunction = int(const char*, void**, int, std::uint64_t, int*);

FindDriverFunction* DriverFinder() {
  static const auto driver =
      os::SharedLibrary::Open("libcuda.so.1", os::SharedLibrary::Unloading::kForEver);
  return driver.ok() ? driver->Find<FindDriverFunction>("cuGetProcAddress_v2") : nullptr;
}

int EntryPoint(const char* function, const char* symbol, void** pointer, unsigned version,
               int* state) {
  return Call(function, [&]() -> Answer {
    if (symbol == nullptr || pointer == nullptr) return IsNull("an argument");
    *pointer = nullptr;
    FindDriverFunction* const find = DriverFinder();
    if (find == nullptr) return {CudaCode::kSymbolNotFound, "libcuda.so.1 cannot be loaded"};
    const bool found = find(symbol, pointer, static_cast<int>(version), 0, nullptr) == 0;
    if (state != nullptr)
      *state = static_cast<int>(found ? EntryPointState::kFound : EntryPointState::kNoSuchSymbol);
    return Done();
  });
}

}  // namespace

RINGLET_CUDA_FUNCTION int cudaGetLastError() {
  return static_cast<int>(TakeLastError());
}

RINGLET_CUDA_FUNCTION int cudaPeekAtLastError() {
  return static_cast<int>(LastError());
}

RINGLET_CUDA_FUNCTION const char* cudaGetErrorName(int error) {
  return NameOf(error);
}

RINGLET_CUDA_FUNCTION const char* cudaGetErrorString(int error) {
  return TextOf(error);
}

RINGLET_CUDA_FUNCTION int cudaRuntimeGetVersion(int* version) {
  return Call("cudaRuntimeGetVersion", [&]() -> Answer {
    if (version == nullptr) return IsNull("runtimeVersion");
    *version = kRuntimeVersion;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaDriverGetVersion(int* version) {
  return Call("cudaDriverGetVersion", [&]() -> Answer {
    if (version == nullptr) return IsNull("driverVersion");
    *version = kDriverVersion;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaGetDriverEntryPoint(const char* symbol, void** pointer,
                                                  unsigned long long, int* state) {
  return EntryPoint("cudaGetDriverEntryPoint", symbol, pointer, kRuntimeVersion, state);
}

RINGLET_CUDA_FUNCTION int cudaGetDriverEntryPointByVersion(const char* symbol, void** pointer,
                                                           unsigned version, unsigned long long,
                                                           int* state) {
  return EntryPoint("cudaGetDriverEntryPointByVersion", symbol, pointer, version, state);
}

// Both succeed without effect, as without a profiler.
RINGLET_CUDA_FUNCTION int cudaProfilerStart() {
  return Call("cudaProfilerStart", [] { return Done(); });
}

RINGLET_CUDA_FUNCTION int cudaProfilerStop() {
  return Call("cudaProfilerStop", [] { return Done(); });
}

/// The body of each undefined function; see cmake/RingletEmulate.cmake.
extern "C" __attribute__((visibility("hidden"))) int ringlet_trap(const char* function) {
  const CudaCode code = RefuseFunction(RINGLET_CUDART_NAME, function);
  SetLastError(code);
  return static_cast<int>(code);
}

namespace {

// Makes the null stream CUDA's, which is ordered with the other streams of its device.
__attribute__((constructor)) void UseNullStream() {
  ringletStreamUseNull(1);
}

}  // namespace
#if RINGLET_CUDART >= 13
RINGLET_CUDA_FUNCTION int cudaLogsRegisterCallback(LogListeners::Function* function, void* data,
                                                   void** handle) {
  return Call("cudaLogsRegisterCallback", [&]() -> Answer {
    const auto added = Host().log_listeners().Add(function, data);
    if (!added.ok()) return ToAnswer(added.error());
    if (handle != nullptr) *handle = *added;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaLogsUnregisterCallback(void* handle) {
  return Call("cudaLogsUnregisterCallback", [&]() -> Answer {
    const Status removed = Host().log_listeners().Remove(handle);
    return removed.ok() ? Done() : ToAnswer(removed.error());
  });
}
#endif

}  // namespace ringlet::cuda
