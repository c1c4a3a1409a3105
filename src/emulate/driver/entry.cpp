// The driver: its errors and error log, and function lookup by name.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <string>

#include "emulate/driver/driver_call.hpp"

/// Returns nonzero if the function is a trap. cmake/RingletEmulate.cmake generates a trap for each
/// name that the sources do not define.
extern "C" int ringlet_is_trap(const void* function);

namespace ringlet::cuda {
namespace {

/// Version suffixes to try for a name without a version, newest first.
constexpr std::array kSuffixes = {"_v4", "_v3", "_v2", ""};

enum class ProcState : int { kFound, kNoSuchSymbol };

// Opens this library for lookups, because another libcuda may be loaded.
void* Self() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&Self), &self) == 0) return nullptr;
  return ::dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

// Returns the newest version that is not a trap; otherwise the newest.
void* FindFunction(const std::string& name) {
  static void* const self = Self();
  void* trap = nullptr;
  for (const char* suffix : kSuffixes) {
    void* const found = ::dlsym(self, (name + suffix).c_str());
    if (found == nullptr) continue;
    if (ringlet_is_trap(found) == 0) return found;
    trap = trap != nullptr ? trap : found;
  }
  return trap;
}

}  // namespace

RINGLET_DRIVER_FUNCTION int cuGetErrorName(int error, const char** text) {
  if (text == nullptr) return static_cast<int>(CudaCode::kInvalidValue);
  *text = DriverNameOf(error);
  return *text != nullptr ? 0 : static_cast<int>(CudaCode::kInvalidValue);
}

RINGLET_DRIVER_FUNCTION int cuGetErrorString(int error, const char** text) {
  if (text == nullptr) return static_cast<int>(CudaCode::kInvalidValue);
  *text = DriverNameOf(error) != nullptr ? TextOf(error) : nullptr;
  return *text != nullptr ? 0 : static_cast<int>(CudaCode::kInvalidValue);
}

RINGLET_DRIVER_FUNCTION int cuGetProcAddress_v2(const char* name, void** function, int,
                                                std::uint64_t, int* state) {
  return DriverCall("cuGetProcAddress", [&]() -> Answer {
    if (name == nullptr || function == nullptr) return NullArgument();
    *function = FindFunction(name);
    if (state != nullptr)
      *state =
          static_cast<int>(*function != nullptr ? ProcState::kFound : ProcState::kNoSuchSymbol);
    if (*function != nullptr) return Done();
    return {CudaCode::kSymbolNotFound, std::string("unknown function ") + name};
  });
}

RINGLET_DRIVER_FUNCTION int cuGetProcAddress(const char* name, void** function, int version,
                                             std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

// CUDA's static runtime and NVIDIA's tools request private tables of NVIDIA's driver, which do not
// exist here. The runtime reports that as "named symbol not found" without the cause.
RINGLET_DRIVER_FUNCTION int cuGetExportTable(const void** table, const void*) {
  if (table == nullptr) return static_cast<int>(CudaCode::kInvalidValue);
  *table = nullptr;
  const std::string sentence =
      "the program requests private tables of NVIDIA's driver (cuGetExportTable), as CUDA's static "
      "runtime does, but the host does not have them: link the program with the shared libcudart "
      "(nvcc -cudart shared), or use such a build of it";
  Host().PrintOnce(sentence);
  Host().log_listeners().NotifyListeners(CudaLogLevel::kError, sentence);
  return static_cast<int>(CudaCode::kSymbolNotFound);
}

RINGLET_DRIVER_FUNCTION int cuLogsRegisterCallback(LogListeners::Function* function, void* data,
                                                   void** handle) {
  return DriverCall("cuLogsRegisterCallback", [&]() -> Answer {
    const auto added = Host().log_listeners().Add(function, data);
    if (!added.ok()) return ToAnswer(added.error());
    if (handle != nullptr) *handle = *added;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuLogsUnregisterCallback(void* handle) {
  return DriverCall("cuLogsUnregisterCallback", [&]() -> Answer {
    const Status removed = Host().log_listeners().Remove(handle);
    return removed.ok() ? Done() : ToAnswer(removed.error());
  });
}

/// The body of each undefined function; see cmake/RingletEmulate.cmake.
extern "C" __attribute__((visibility("hidden"))) int ringlet_trap(const char* function) {
  return static_cast<int>(RefuseFunction("libcuda.so.1", function));
}

}  // namespace ringlet::cuda
