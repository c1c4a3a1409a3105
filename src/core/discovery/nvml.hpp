// GPUs as NVIDIA's driver tells of them, through its management library (NVML), which is looked for
// at run time: Ringlet neither needs it nor is built with it.
#pragma once
#include <string>

#include "discovery/gpus.hpp"

namespace ringlet::discovery {

class Nvml : public GpuSource {
 public:
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  explicit Nvml(std::string library = kLibrary) : library_(std::move(library)) {}

  /// Loads the library, asks, and lets go of it again. Names of functions and layouts are those of
  /// NVML's stable interface since driver 410; of older ones, and where a driver lacks a function,
  /// what it would have told is missing.
  ///
  /// The generation of PCIe is the best of card and slot, not the present one: an idle link slows
  /// down, and NCCL only asks once a program has woken the GPU. NVLinks are counted by neighbour,
  /// in the order of their numbers, if they are active and can carry traffic between GPUs.
  ///
  /// Errors  kUnsupported  there is no library, or it lacks what every NVML has
  ///         kSystem       the library finds no driver; its own words
  /// Cost    tens of milliseconds where no program uses the GPUs
  Result<GpuReport> Read() override;

 private:
  std::string library_;
};

}  // namespace ringlet::discovery
