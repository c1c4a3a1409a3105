// The bytes written to a TCP socket that the kernel still holds.
#pragma once
#include <cstdint>
#include <optional>

#include "base/wire/machine.hpp"

namespace ringlet::os {

struct SendQueue {
  std::uint64_t bytes = 0;             ///< written, but not acknowledged
  std::uint64_t bytes_per_second = 0;  ///< the kernel's estimate; 0: unknown
  Instant quiet{0};  ///< since the last acknowledgement, if bytes were retransmitted; else 0
};

/// Empty if `fd` is not a TCP socket. Two system calls; any thread.
std::optional<SendQueue> SendQueueOf(int fd);

}  // namespace ringlet::os
