// Bytes that a rank has sent and that do not arrive.
#pragma once
#include <cstdint>

#include "base/wire/machine.hpp"

namespace ringlet {

/// Bytes for one peer that wait in the kernel of their sender, and travel so slowly that a rank
/// that awaits them waits for the network.
struct SlowSend {
  std::uint32_t peer = 0;
  std::uint64_t bytes = 0;             ///< sent by the rank, not acknowledged by the peer's host
  std::uint64_t bytes_per_second = 0;  ///< as the kernel estimates it
  Instant quiet{0};  ///< how long nothing has been acknowledged although it was sent again; else 0
  bool operator==(const SlowSend&) const = default;
};

}  // namespace ringlet
