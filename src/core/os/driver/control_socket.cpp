#include "os/driver/control_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "os/net/sockaddr.hpp"
#include "os/process/forks.hpp"

namespace ringlet::os {
namespace {

/// Returns the process at the other end of a UNIX socket.
std::optional<ucred> PeerOf(int fd) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  return peer;
}

int Connect(const OutgoingCall& call, const SocketAddress& to, DriverTally& tally) {
  ++tally.counters.system_calls;
  return ::connect(call.socket.get(), to.get(), to.bytes) == 0 ? 0 : errno;
}

}  // namespace

void TuneControlSocket(int fd, DriverTally& tally) {
  const int yes = 1, no = 0, idle_s = 10, interval_s = 5, user_timeout_ms = 30'000;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof user_timeout_ms);
  // Every message of a handshake is answered at once, and the answer acknowledges it.
  ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &no, sizeof no);
  tally.counters.system_calls += 6;
}

bool IsShortage(int error) {
  return error == EMFILE || error == ENFILE;
}

OutgoingCall CallAddress(const Address& to, DriverTally& tally) {
  const SocketAddress at = ToSocketAddress(to);
  OutgoingCall call;
  call.socket = OpenForThisProcess([&] {
    return ::socket(at.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  });
  call.error = call.socket.valid() ? 0 : errno;
  ++tally.counters.system_calls;
  if (IsShortage(call.error)) ++tally.shortages;
  if (call.error != 0) return call;
  if (to.kind != Address::Kind::kUnix) TuneControlSocket(call.socket.get(), tally);
  ++tally.counters.lines_dialled;
  call.error = Connect(call, at, tally);
  // Within a host the connection exists by now, although the first call cannot report it. The
  // second call saves a turn of the loop and two more calls.
  if (call.error == EINPROGRESS) {
    call.error = Connect(call, at, tally);
    call.connecting = call.error == EALREADY;
  }
  if (call.connecting) call.error = 0;
  return call;
}

bool IsOwnUser(int fd) {
  const auto caller = PeerOf(fd);
  return caller && (caller->uid == ::geteuid() || caller->uid == 0);
}

std::uint32_t PidOf(int fd) {
  const auto peer = PeerOf(fd);
  return peer ? static_cast<std::uint32_t>(peer->pid) : 0;
}

}  // namespace ringlet::os
