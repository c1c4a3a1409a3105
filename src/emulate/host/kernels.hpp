// Kernels: the names that a program registers for its launches, and their host functions.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ringlet/export.hpp"
#include "ringlet/kernel.h"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

/// The function of a launch.
struct HostKernel {
  std::string name;  ///< the registered name
  ringlet_host_kernel_function run = nullptr;
  std::vector<std::size_t> parameters;  ///< bytes of each
};

/// Maximum number of parameters. CUDA limits their total size to 32,764 bytes.
inline constexpr std::size_t kParametersMax = 1024;
inline constexpr std::size_t kParameterBytesMax = 32764;

/// Any thread may call all methods.
class RINGLET_API Kernels {
 public:
  /// Registers a host function for the kernel `name` (mangled, demangled or bare), from a library
  /// of the user. \param sizes  parameter sizes; empty: derived from the name at launch
  /// Errors  kInvalidArgument  no name or function, or sizes above CUDA's limits
  Status Register(std::string name, ringlet_host_kernel_function function,
                  std::optional<std::vector<std::size_t>> sizes);

  /// Binds a program's launches of the function at `stub` to the kernel `name`.
  void Bind(const void* stub, std::string name);

  /// Returns the name bound to `stub`; empty if unbound.
  std::optional<std::string> NameOf(const void* stub) const;

  /// Returns the function for a launch.
  /// Errors  kUnsupported  no function is registered, or its sizes are unknown; names the kernel
  ///         kInvalidArgument  `stub` is not a kernel of the program
  Result<HostKernel> Find(const void* stub) const;

 private:
  struct HostFunction {
    ringlet_host_kernel_function run = nullptr;
    std::optional<std::vector<std::size_t>> sizes;
  };
  const HostFunction* FindName(const std::string& name, const std::string& demangled) const;

  mutable std::mutex mutex_;
  std::map<std::string, HostFunction> functions_;  // by name
  std::map<const void*, std::string> names_;       // by stub
};

}  // namespace ringlet::cuda
