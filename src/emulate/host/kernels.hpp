// Kernels: the names that a program registers for its launches, and the host functions for them.
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

/// The function that a launch runs.
struct HostKernel {
  std::string name;  ///< as the program registered it
  ringlet_host_kernel_function run = nullptr;
  std::vector<std::size_t> parameters;  ///< sizes in bytes
};

/// Most parameters of a kernel; CUDA's bound is 32,764 bytes of them.
inline constexpr std::size_t kParametersMax = 1024;
inline constexpr std::size_t kParameterBytesMax = 32764;

/// All methods from any thread.
class RINGLET_API Kernels {
 public:
  /// A host function for the kernel `name` (mangled, demangled or bare), from a library of the
  /// user's. \param sizes  of its parameters; empty: they follow from the name at the launch Errors
  /// kInvalidArgument  no name or function, or sizes beyond CUDA's
  Status Register(std::string name, ringlet_host_kernel_function function,
                  std::optional<std::vector<std::size_t>> sizes);

  /// A program's launches of the function at `stub` mean the kernel `name`.
  void Bind(const void* stub, std::string name);

  /// The name bound to `stub`; empty if there is none.
  std::optional<std::string> NameOf(const void* stub) const;

  /// The function for a launch.
  /// Errors  kUnsupported  no function is registered, or its sizes are not known; names the kernel
  ///         kInvalidArgument  `stub` is no kernel of the program
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
