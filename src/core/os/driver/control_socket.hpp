// The sockets of control connections: their options, how they call, and the process at their end.
#pragma once
#include <cstdint>

#include "base/value/address.hpp"
#include "os/driver/driver_counters.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

/// Options of a control connection: small messages leave at once, a dead host is noticed. Those of
/// a listener are inherited by what it accepts, which saves these calls for each caller. The user
/// time-out also ends a line whose probes stay unanswered, so their number need not be set.
void TuneControlSocket(int fd, DriverTally& tally);

/// True when `error` of errno says that there is no descriptor left.
bool IsShortage(int error);

/// A socket that calls a listener.
struct OutgoingCall {
  Fd socket;                ///< non-blocking
  int error = 0;            ///< why the call has failed already; 0: it has not
  bool connecting = false;  ///< the kernel says later whether the call came through
};
/// Calls `to`, without waiting. A child of fork() does not keep the socket.
OutgoingCall CallAddress(const Address& to, DriverTally& tally);

/// True when the process at the other end of a UNIX socket is of the user of this one, or of root.
bool IsOwnUser(int fd);

/// The process at the other end of a UNIX socket. 0: it is not in this PID namespace.
std::uint32_t PidOf(int fd);

}  // namespace ringlet::os
