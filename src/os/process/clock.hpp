// What time it is. Pure layers are told the time; they never ask.
#pragma once
#include <string>

#include "base/wire/machine.hpp"

namespace ringlet::os {

/// Monotonic, the same for all threads, never zero.
Instant Now();

/// Wall time since 1970, for comparing hosts. Jumps when somebody sets the clock.
Instant UnixTime();

/// What this process has computed so far, on all cores and in the kernel.
Instant ProcessCpuTime();

/// Local wall time as log lines show it: "2025-11-20 18:14:03".
std::string WallTimeText();

}  // namespace ringlet::os
