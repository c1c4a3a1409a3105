// Compute capabilities of NVIDIA GPUs, ten times the major and once the minor number, from which on
// plans differ.
#pragma once
#include <cstdint>

namespace ringlet::plan {

constexpr std::uint32_t kVolta = 70, kAmpere = 80, kHopper = 90, kBlackwell = 100;

}  // namespace ringlet::plan
