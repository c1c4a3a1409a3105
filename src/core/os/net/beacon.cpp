#include "os/net/beacon.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/value/text.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::os {

BeaconProbe BeaconProbe::Of(const Address& beacon) {
  BeaconProbe beacon_probe;
  const SocketAddress to = ToSocketAddress(beacon);
  beacon_probe.fd_ =
      Fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!beacon_probe.fd_.valid()) return beacon_probe;
  if (::connect(beacon_probe.fd_.get(), to.get(), to.bytes) == 0 || errno == EINPROGRESS)
    return beacon_probe;
  beacon_probe.EndsWith(errno);
  return beacon_probe;
}

void BeaconProbe::EndsWith(int error) {
  gone_ = error == ECONNREFUSED || error == ECONNRESET;
  fd_.Close();
}

bool BeaconProbe::IsGone() {
  if (!fd_.valid()) return gone_;
  pollfd entry{.fd = fd_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  if (::poll(&entry, 1, 0) <= 0 || entry.revents == 0) return false;
  int error = 0;
  socklen_t bytes = sizeof error;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  EndsWith(error != 0 ? error : ECONNRESET);
  return gone_;
}

bool BeaconProbe::IsAnswered() {
  if (!fd_.valid()) return true;
  pollfd entry{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

namespace {

bool IsOpenTo(std::uint16_t port, int fd) {
  SocketAddress peer;
  peer.bytes = sizeof peer.storage;
  if (::getpeername(fd, peer.get(), &peer.bytes) != 0) return false;
  const Address address = FromSocketAddress(peer);
  const bool is_ip = address.kind == Address::Kind::kIpv4 || address.kind == Address::Kind::kIpv6;
  if (!is_ip || address.port != port) return false;
  pollfd entry{.fd = fd, .events = POLLRDHUP, .revents = 0};
  return ::poll(&entry, 1, 0) == 0;
}

}  // namespace

bool HasConnectionTo(std::uint16_t port) {
  std::error_code failed;
  std::filesystem::directory_iterator entry("/proc/self/fd", failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const auto fd = ParseDecimal(entry->path().filename().string());
    if (fd && IsOpenTo(port, static_cast<int>(*fd))) return true;
  }
  return static_cast<bool>(failed);  // on failure, assume a connection
}

}  // namespace ringlet::os
