// A source of callers that a machine shares with others, in contrast to its own listener.
#pragma once
#include <cstdint>
#include <functional>

#include "base/wire/machine.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

/// A caller that a machine takes over from another listener.
struct Caller {
  Fd socket;  ///< connected, non-blocking
  Address from;
  Bytes said;  ///< the bytes that were already read from it
};

/// Any thread may call its functions.
class Entrance {
 public:
  Entrance() = default;
  Entrance(const Entrance&) = delete;
  Entrance& operator=(const Entrance&) = delete;
  virtual ~Entrance() = default;

  using Visit = std::uint64_t;
  /// Passes later callers to `admit`, and waiting ones at once. `admit` must not call back. Any
  /// thread may call it, but not after Close.
  virtual Visit Open(std::function<void(Caller)> admit) = 0;
  /// Ends the visit, unless another Open has ended it. Later callers wait for the next Open.
  virtual void Close(Visit visit) = 0;
};

}  // namespace ringlet::os
