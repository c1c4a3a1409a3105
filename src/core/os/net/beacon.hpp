// Seeing from afar that a process has ended.
//
// A socket that listens and never accepts: the kernel takes callers into its queue, and cuts them
// off when the process ends, however it ends. No thread of that process has to do anything.
#pragma once
#include <cstdint>

#include "base/value/address.hpp"
#include "os/fs/fd.hpp"
#include "os/net/listener.hpp"

namespace ringlet::os {

/// A call to the beacon of another process.
class Sight {
 public:
  /// Begins to call, and returns at once.
  static Sight Of(const Address& beacon);
  /// Whether it is certain that no process listens there any more. No answer, and no way there, are
  /// not certain: false. Cost one system call.
  bool IsGone();
  /// Whether the call has ended, or a process listens there: until then IsGone can still change its
  /// mind within a round trip. Cost one system call.
  bool IsAnswered();

 private:
  void EndsWith(int error);

  Fd fd_;  // closed once the call has ended
  bool gone_ = false;
};

/// Whether this process has a TCP connection to this port of some host that the other side has not
/// closed: a library that keeps its socket to itself still has its server. Cost a few system calls
/// for each descriptor.
bool HasConnectionTo(std::uint16_t port);

}  // namespace ringlet::os
