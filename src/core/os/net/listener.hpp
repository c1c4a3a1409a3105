// Sockets that wait for callers.
#pragma once
#include "base/value/address.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

struct Listener {
  Fd fd;
  Address address;  ///< as bound, with the real port
};

/// Binds and listens on `at` (port 0: any free one; a UNIX address: the abstract name). The backlog
/// is the system's maximum (net.core.somaxconn), because a short one stalls mass check-ins for
/// seconds.
/// Errors  kSystem  the message names the address; EADDRINUSE: another socket listens there.
Result<Listener> Listen(const Address& at);

/// Does the same at a TCP address that several processes of one user share. The kernel gives each
/// caller to one of them.
/// Errors  as Listen; also if another user, or a process that does not share, listens there
Result<Listener> ListenShared(const Address& at);

}  // namespace ringlet::os
