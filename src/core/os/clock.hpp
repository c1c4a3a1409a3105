// The present time. Pure layers receive the time as an argument; they never read a clock.
#pragma once
#include <cstdint>
#include <string>

#include "base/wire/machine.hpp"

namespace ringlet::os {

/// Monotonic, equal for all threads, never zero.
Instant Now();

/// A counter of the processor that runs as evenly as Now, in its own unit; Now if the processor
/// lacks one. Costs a quarter of Now, for code that cannot afford Now.
inline std::uint64_t Ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<std::uint64_t>(Now().count());
#endif
}

/// Wall time since 1970, for comparing hosts. Jumps when the clock is set.
Instant UnixTime();

/// The processor time of this process so far, on all cores and in the kernel.
Instant ProcessCpuTime();

/// Local wall time in the format of log lines: "2025-11-20 18:14:03".
std::string WallTimeText();

}  // namespace ringlet::os
