// Address <-> sockaddr, and the text of errno.
#pragma once
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/value/address.hpp"

namespace ringlet::os {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// `address` must be an IPv4, IPv6 or UNIX one.
SocketAddress ToSocketAddress(const Address& address);
/// kNone for a family that Ringlet does not use.
Address FromSocketAddress(const SocketAddress& address);

/// "connection refused (ECONNREFUSED 111)", lower case, without a full stop.
std::string ErrnoText(int error);

/// kSystem with `what` and the text of `error`, as in "cannot bind 10.0.0.5:7: address in use ...".
Error SystemError(std::string what, int error);

}  // namespace ringlet::os
