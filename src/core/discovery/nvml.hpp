// Reads GPUs from NVIDIA's driver through its management library (NVML). The library is loaded at
// run time: Ringlet neither requires it nor links with it.
#pragma once
#include <string>

#include "discovery/gpus.hpp"

namespace ringlet::discovery {

class Nvml : public GpuSource {
 public:
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  explicit Nvml(std::string library = kLibrary) : library_(std::move(library)) {}

  /// Loads the library, queries it and unloads it. Function names and layouts are those of NVML's
  /// stable interface since driver 410. If a driver lacks a function, the fact is missing.
  ///
  /// The PCIe generation is the maximum of card and slot, not the current one, because an idle link
  /// slows down, and NCCL queries only after a program has woken the GPU. NVLinks are counted per
  /// neighbour, in number order, if they are active and can carry traffic between GPUs.
  ///
  /// Errors  kUnsupported  the library is missing, or lacks a basic function
  ///         kSystem       the library finds no driver; contains the library's message
  /// Cost    tens of milliseconds if no program uses the GPUs
  Result<GpuReport> Read() override;

 private:
  std::string library_;
};

}  // namespace ringlet::discovery
