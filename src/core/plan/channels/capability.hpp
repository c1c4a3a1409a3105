// Compute capabilities of NVIDIA GPUs at which plans change. Value: 10 * major + minor.
#pragma once
#include <cstdint>

namespace ringlet::plan {

constexpr std::uint32_t kVolta = 70, kAmpere = 80, kHopper = 90, kBlackwell = 100;

}  // namespace ringlet::plan
