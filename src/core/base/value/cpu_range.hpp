// A range of consecutive CPUs.
#pragma once
#include <cstdint>

namespace ringlet {

struct CpuRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;  ///< inclusive
  bool operator==(const CpuRange&) const = default;
};

}  // namespace ringlet
