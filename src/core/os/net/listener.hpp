// Sockets that wait for callers.
#pragma once
#include "base/value/address.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

struct Listener {
  Fd fd;
  Address address;  ///< as bound: the port is the real one
};

/// Binds and listens on `at` (port 0: any free one; a UNIX address: the abstract name). The backlog
/// is what the system allows (net.core.somaxconn): a short one stalls mass check-ins for seconds.
/// Errors kSystem the sentence names the address; EADDRINUSE says that another socket listens
/// there.
Result<Listener> Listen(const Address& at);

/// The same at an address over TCP where several processes of one user listen, of which the kernel
/// gives each caller to one. Errors  as Listen; another user, or a process that does not share
Result<Listener> ListenTogether(const Address& at);

}  // namespace ringlet::os
