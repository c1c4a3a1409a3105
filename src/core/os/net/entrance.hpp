// A way in for callers that is not a listener of the machine's own: others share it.
#pragma once
#include <cstdint>
#include <functional>

#include "base/wire/machine.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

/// A caller from another listener that a machine is to take over.
struct Caller {
  Fd socket;  ///< connected, non-blocking
  Address from;
  Bytes said;  ///< bytes of it that were read already
};

/// Calls of it come from any thread.
class Entrance {
 public:
  Entrance() = default;
  Entrance(const Entrance&) = delete;
  Entrance& operator=(const Entrance&) = delete;
  virtual ~Entrance() = default;

  using Visit = std::uint64_t;
  /// From now on `admit` is given those who come, and those who have waited for this at once. It
  /// does not call back, and may be called on any thread, not after Close.
  virtual Visit Open(std::function<void(Caller)> admit) = 0;
  /// Ends it, unless another Open has; who comes waits for the next.
  virtual void Close(Visit visit) = 0;
};

}  // namespace ringlet::os
