// The sockets of control connections: options, outgoing calls, and the process at the other end.
#pragma once
#include <cstdint>

#include "base/value/address.hpp"
#include "os/driver/driver_counters.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

/// Sets the options of a control connection: the kernel sends small messages at once, and notices a
/// dead host. Accepted sockets inherit the options of their listener, which saves calls. The user
/// timeout also ends a connection with unanswered probes, so their number need not be set.
void TuneControlSocket(int fd, DriverTally& tally);

/// True if `error` of errno reports that no descriptor is left.
bool IsShortage(int error);

/// A socket that calls a listener.
struct OutgoingCall {
  Fd socket;                ///< non-blocking
  int error = 0;            ///< the error if the call has failed already; 0: it has not
  bool connecting = false;  ///< the kernel reports the result of the call later
};
/// Calls `to` without waiting. A child of fork() does not keep the socket.
OutgoingCall CallAddress(const Address& to, DriverTally& tally);

/// True if the process at the other end of a UNIX socket belongs to this process's user or to root.
bool IsOwnUser(int fd);

/// The process id at the other end of a UNIX socket. 0 if it is not in this PID namespace.
std::uint32_t PidOf(int fd);

}  // namespace ringlet::os
