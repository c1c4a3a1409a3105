// The present time. Pure layers are told the time; they never ask.
#pragma once
#include <string>

#include "base/wire/machine.hpp"

namespace ringlet::os {

/// Monotonic, the same for all threads, never zero.
Instant Now();

/// Wall time since 1970, for comparing hosts. Jumps when the clock is set.
Instant UnixTime();

/// The processor time of this process so far, on all cores and in the kernel.
Instant ProcessCpuTime();

/// Local wall time as log lines show it: "2025-11-20 18:14:03".
std::string WallTimeText();

}  // namespace ringlet::os
