// Bytes that a rank has sent but that do not arrive.
#pragma once
#include <cstdint>

#include "base/wire/machine.hpp"

namespace ringlet {

/// Bytes for one peer that wait in the sender's kernel. They drain so slowly that a rank that
/// awaits them waits for the network.
struct SlowSend {
  std::uint32_t peer = 0;
  std::uint64_t bytes = 0;             ///< sent by the rank, not acknowledged by the peer's host
  std::uint64_t bytes_per_second = 0;  ///< the kernel's estimate
  Instant quiet{0};  ///< time since the last acknowledgement if bytes were retransmitted; else 0
  bool operator==(const SlowSend&) const = default;
};

}  // namespace ringlet
