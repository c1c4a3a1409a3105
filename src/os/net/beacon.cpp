#include "os/net/beacon.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "os/net/sockaddr.hpp"

namespace ringlet::os {

Sight Sight::Of(const Address& beacon) {
  Sight sight;
  const SocketAddress to = ToSocketAddress(beacon);
  sight.fd_ = Fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!sight.fd_.valid()) return sight;
  if (::connect(sight.fd_.get(), to.get(), to.bytes) == 0 || errno == EINPROGRESS) return sight;
  sight.EndsWith(errno);
  return sight;
}

void Sight::EndsWith(int error) {
  gone_ = error == ECONNREFUSED || error == ECONNRESET;
  fd_.Close();
}

bool Sight::IsGone() {
  if (!fd_.valid()) return gone_;
  pollfd entry{.fd = fd_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  if (::poll(&entry, 1, 0) <= 0 || entry.revents == 0) return false;
  int error = 0;
  socklen_t bytes = sizeof error;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  EndsWith(error != 0 ? error : ECONNRESET);
  return gone_;
}

bool Sight::IsAnswered() {
  if (!fd_.valid()) return true;
  pollfd entry{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace ringlet::os
