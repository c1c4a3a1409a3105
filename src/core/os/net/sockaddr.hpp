// Converts between Address and sockaddr.
#pragma once
#include <sys/socket.h>
#include <sys/un.h>

#include "base/value/address.hpp"

namespace ringlet::os {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// \pre  `address` is an IPv4, IPv6 or UNIX one
SocketAddress ToSocketAddress(const Address& address);
/// Returns kNone for a family that Ringlet does not use.
Address FromSocketAddress(const SocketAddress& address);

}  // namespace ringlet::os
