// Whether a process is still the one that it was, or a child that was forked from it.
#pragma once
#include <cstdint>

namespace ringlet::os {

/// A number of this process that none has from which it was forked, and that stays the same. From a
/// page that Linux clears in the child of a fork, however it was made (MADV_WIPEONFORK). Cost  a
/// load; where the system has no such pages, one system call.
std::uint64_t ForkGeneration();

}  // namespace ringlet::os
