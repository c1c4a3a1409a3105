#include "os/net/listener.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "os/error.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::os {
namespace {

// The kernel reduces it to net.core.somaxconn, which may exceed the SOMAXCONN of a header.
constexpr int kBacklog = 65'535;

Result<Listener> ListenAt(const Address& at, bool together) {
  const SocketAddress wanted = ToSocketAddress(at);
  Fd fd(::socket(wanted.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return SystemError("cannot open a socket for " + ToString(at), errno);
  const int yes = 1;
  if (at.kind == Address::Kind::kIpv6)
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  // A rank that is alone listens there even without a running loopback interface.
  if (at.kind == Address::Kind::kIpv4 && at.IsLoopback())
    ::setsockopt(fd.get(), IPPROTO_IP, IP_FREEBIND, &yes, sizeof yes);
  // A fixed port may still have connections in TIME_WAIT from an earlier job.
  if (at.port != 0) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (together) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  if (::bind(fd.get(), wanted.get(), wanted.bytes) != 0)
    return SystemError("cannot listen on " + ToString(at), errno);
  if (::listen(fd.get(), kBacklog) != 0)
    return SystemError("cannot listen on " + ToString(at), errno);
  SocketAddress bound;
  bound.bytes = sizeof bound.storage;
  if (::getsockname(fd.get(), bound.get(), &bound.bytes) != 0)
    return SystemError("cannot read the address of " + ToString(at), errno);
  return Listener{std::move(fd), FromSocketAddress(bound)};
}

}  // namespace

Result<Listener> Listen(const Address& at) {
  return ListenAt(at, false);
}

Result<Listener> ListenShared(const Address& at) {
  return ListenAt(at, true);
}

}  // namespace ringlet::os
