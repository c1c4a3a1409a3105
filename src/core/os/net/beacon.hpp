// Detects from afar that a process has ended.
//
// A beacon is a socket that listens and never accepts. The kernel queues callers, and cuts them off
// when the process ends in any way. No thread of that process takes part.
#pragma once
#include <cstdint>

#include "base/value/address.hpp"
#include "os/fs/fd.hpp"
#include "os/net/listener.hpp"

namespace ringlet::os {

/// A call to the beacon of another process.
class BeaconProbe {
 public:
  /// Begins a call and returns at once.
  static BeaconProbe Of(const Address& beacon);
  /// Returns true if it is certain that no process listens there any more. Returns false without an
  /// answer or a route. Cost one system call.
  bool IsGone();
  /// Returns true if the call has ended or a process listens there. Until then the result of IsGone
  /// can still change within a round trip. Cost one system call.
  bool IsAnswered();

 private:
  void EndsWith(int error);

  Fd fd_;  // closed when the call has ended
  bool gone_ = false;
};

/// Returns true if this process has a TCP connection to this port of any host that the other side
/// has not closed. If a library hides its socket, this shows that its server still exists. Cost a
/// few system calls for each descriptor.
bool HasConnectionTo(std::uint16_t port);

}  // namespace ringlet::os
