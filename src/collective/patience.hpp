// How a rank waits for another of the same host before it sleeps.
#pragma once
#include <cstdint>

namespace ringlet::collective {

/// A look costs some tens of nanoseconds; a yield about a microsecond when another rank takes the
/// core, less when nobody wants it; a sleep and its end together from 2 us (same core) to 20 us
/// (another core).
struct Patience {
  std::uint32_t looks = 0;
  std::uint32_t yields = 0;

  /// Of ranks that have a core each: they look.
  static Patience WithCores();
  /// Of ranks that share cores: they give the core to the rank that is awaited.
  static Patience Sharing();

  /// Passes a moment, the `idle`-th without news. False: time to sleep.
  bool Linger(std::uint32_t idle) const;
};

}  // namespace ringlet::collective
