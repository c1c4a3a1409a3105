#include "tool/doctor/probe_client.hpp"

#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "os/clock.hpp"
#include "os/error.hpp"
#include "os/net/interfaces.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::cli {
namespace {

using doctor::Contact;
using doctor::PairFacts;

constexpr int kEchoes = 64;
constexpr std::size_t kSendBytes = 1 << 18;
constexpr int kDatagramTries = 3;
constexpr Instant kDatagramWait = std::chrono::milliseconds(150);
constexpr std::uint32_t kIpv4HeaderBytes = 28, kIpv6HeaderBytes = 48;  // with the UDP header
/// Common packet sizes: jumbo frames, FDDI, Ethernet, sizes reduced by tunnels (PPPoE, VXLAN,
/// WireGuard), and the minimum of IPv6.
constexpr std::array<std::uint32_t, 10> kPacketBytes = {9000, 8942, 4352, 1500, 1492,
                                                        1480, 1450, 1420, 1400, 1280};
constexpr std::uint32_t kPacketBytesMin = 576, kPacketBytesMax = 65'000;

Contact ReachOf(int error) {
  switch (error) {
    case ECONNREFUSED: return Contact::kRefused;
    case ETIMEDOUT: return Contact::kTimeout;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EINVAL:  // a blackhole route
    case EACCES:  // a prohibit route
      return Contact::kUnreachable;
    case EADDRNOTAVAIL:
    case EADDRINUSE: return Contact::kNoPort;
    case ECONNRESET:
    case EPIPE: return Contact::kStranger;
    default: return Contact::kFailed;
  }
}

void SetFailed(PairFacts& pair, int error) {
  pair.reach = ReachOf(error);
  pair.why = error == EINVAL   ? "a blackhole route leads there"
             : error == EACCES ? "a prohibit route leads there"
                               : os::ErrnoText(error);
}

bool IsSameNetwork(const Address& a, const Address& b, std::uint32_t prefix_bits) {
  constexpr std::uint32_t kByteBits = 8;
  if (a.kind != b.kind) return false;
  for (std::uint32_t bit = 0; bit < prefix_bits; ++bit) {
    const auto at = bit / kByteBits;
    const auto mask = static_cast<std::uint8_t>(0x80u >> (bit % kByteBits));
    if (((a.ip[at] ^ b.ip[at]) & mask) != 0) return false;
  }
  return true;
}

/// Returns this host's address in the network of `target`. Each NIC is then measured by its peer.
std::optional<Address> SourceFor(const Address& target) {
  const auto interfaces = os::ListInterfaces();
  if (!interfaces.ok()) return std::nullopt;
  for (const os::Interface& interface : *interfaces)
    for (const os::InterfaceAddress& one : interface.addresses)
      if (interface.running && one.prefix_bits > 0 &&
          IsSameNetwork(one.address, target, one.prefix_bits))
        return one.address;
  return std::nullopt;
}

bool Await(int fd, short events, Instant until) {
  pollfd one{.fd = fd, .events = events, .revents = 0};
  while (true) {
    const Instant left = until - os::Now();
    if (left.count() <= 0) return false;
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
    const int ready = ::poll(&one, 1, static_cast<int>(ms));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

struct OpeningSocket {
  os::Fd fd;
  int error = 0;  // errno; 0 with a valid descriptor while it connects
};

OpeningSocket BeginConnect(const Address& target, bool bind_source) {
  const os::SocketAddress to = os::ToSocketAddress(target);
  os::Fd fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return {os::Fd(), errno};
  const int yes = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (const auto source = bind_source ? SourceFor(target) : std::nullopt) {
    const os::SocketAddress from = os::ToSocketAddress(*source);
    ::setsockopt(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    static_cast<void>(::bind(fd.get(), from.get(), from.bytes));  // if it fails, the kernel chooses
  }
  if (::connect(fd.get(), to.get(), to.bytes) != 0 && errno != EINPROGRESS)
    return {os::Fd(), errno};
  return {std::move(fd), 0};
}

int ErrorOf(const os::Fd& fd) {
  int error = 0;
  socklen_t bytes = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  return error;
}

std::string HeadOf(const Secret& token, ProbeKind kind) {
  std::string head(reinterpret_cast<const char*>(token.data()), token.size());
  head += static_cast<char>(kind);
  return head;
}

/// A connection of ProbeAll. It connects, then waits for the echo of its message.
struct PendingConnection {
  os::Fd fd;
  bool connected = false;
  bool over = false;
  std::size_t got = 0;
};

void Advance(PendingConnection& one, PairFacts& pair, const Secret& token, Instant begin) {
  if (!one.connected) {
    if (const int error = ErrorOf(one.fd); error != 0) {
      SetFailed(pair, error);
      one.over = true;
      return;
    }
    one.connected = true;
    pair.connect_ns = static_cast<std::uint64_t>((os::Now() - begin).count());
    const std::string message = HeadOf(token, ProbeKind::kEcho) + std::string(kEchoBytes, 'x');
    if (::send(one.fd.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0)
      SetFailed(pair, errno);
    return;
  }
  std::array<char, kEchoBytes> echo;
  const ssize_t got = ::recv(one.fd.get(), echo.data(), echo.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    pair.reach = Contact::kStranger;
    pair.why = "another program answers there";
    one.over = true;
    return;
  }
  one.got += static_cast<std::size_t>(got);
  if (one.got < kEchoBytes) return;
  pair.reach = Contact::kConnected;
  pair.why.clear();
  one.over = true;
}

/// Blocks until all of `bytes` are sent or received. Returns false at `until`.
bool SendAll(const os::Fd& fd, std::string_view bytes, Instant until) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno != EAGAIN && errno != EINTR)
      return false;
    else if (!Await(fd.get(), POLLOUT, until))
      return false;
  }
  return true;
}

bool ReceiveAll(const os::Fd& fd, std::span<char> into, Instant until) {
  while (!into.empty()) {
    const ssize_t got = ::recv(fd.get(), into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0)
      into = into.subspan(static_cast<std::size_t>(got));
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
      return false;
    else if (!Await(fd.get(), POLLIN, until))
      return false;
  }
  return true;
}

os::Fd Connect(const ProbeTarget& target, ProbeKind kind, const ProbeOptions& options,
               PairFacts& pair) {
  const Instant until = os::Now() + options.timeout;
  OpeningSocket connecting = BeginConnect(target.address, /*bind_source=*/true);
  if (connecting.fd.valid() && !Await(connecting.fd.get(), POLLOUT, until))
    connecting.error = ETIMEDOUT;
  if (connecting.fd.valid() && connecting.error == 0) connecting.error = ErrorOf(connecting.fd);
  if (connecting.error == 0 && !SendAll(connecting.fd, HeadOf(options.token, kind), until))
    connecting.error = ECONNRESET;
  if (connecting.error == 0) return std::move(connecting.fd);
  SetFailed(pair, connecting.error);
  return os::Fd();
}

void MeasureLatency(const ProbeTarget& target, const ProbeOptions& options, PairFacts& pair) {
  const os::Fd fd = Connect(target, ProbeKind::kEcho, options, pair);
  if (!fd.valid()) return;
  const Instant until = os::Now() + options.timeout;
  std::array<char, kEchoBytes> message{};
  for (int i = 0; i < kEchoes; ++i) {
    const Instant begin = os::Now();
    if (!SendAll(fd, {message.data(), message.size()}, until) || !ReceiveAll(fd, message, until))
      break;
    const auto took = static_cast<std::uint64_t>((os::Now() - begin).count());
    pair.latency_ns = pair.latency_ns == 0 ? took : std::min(pair.latency_ns, took);
  }
  if (pair.latency_ns == 0) SetFailed(pair, ETIMEDOUT);
}

/// Sends until the server has counted for kCountTime and returns its count.
void MeasureRate(const ProbeTarget& target, const ProbeOptions& options, PairFacts& pair) {
  const os::Fd fd = Connect(target, ProbeKind::kCount, options, pair);
  if (!fd.valid()) return;
  const Instant until = os::Now() + options.timeout;
  const std::vector<char> many(kSendBytes, 'x');
  ProbeCount count;
  const std::span<char> answer(reinterpret_cast<char*>(&count), sizeof count);
  while (os::Now() < until) {
    pollfd one{.fd = fd.get(), .events = POLLIN | POLLOUT, .revents = 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - os::Now());
    if (::poll(&one, 1, static_cast<int>(left.count()) + 1) <= 0) continue;
    if ((one.revents & (POLLIN | POLLERR | POLLHUP)) != 0) break;
    if (::send(fd.get(), many.data(), many.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
        errno != EAGAIN && errno != EINTR)
      break;
  }
  if (!ReceiveAll(fd, answer, until) || count.ns == 0 || count.bytes == 0) {
    pair.stalled = true;
    return;
  }
  constexpr double kSecondNs = 1e9;
  pair.bytes_per_s = static_cast<std::uint64_t>(static_cast<double>(count.bytes) * kSecondNs /
                                                static_cast<double>(count.ns));
}

/// Returns the MTU of the interface with the local address of `fd`; 0 if it is not found.
std::uint32_t InterfaceMtu(const os::Fd& fd) {
  os::SocketAddress local;
  local.bytes = sizeof local.storage;
  if (::getsockname(fd.get(), local.get(), &local.bytes) != 0) return 0;
  Address address = os::FromSocketAddress(local);
  address.port = 0;
  const auto interfaces = os::ListInterfaces();
  if (!interfaces.ok()) return 0;
  for (const os::Interface& interface : *interfaces)
    for (const os::InterfaceAddress& one : interface.addresses) {
      if (one.address.kind != address.kind || one.address.ip != address.ip) continue;
      ifreq request{};
      std::memcpy(request.ifr_name, interface.name.data(),
                  std::min<std::size_t>(interface.name.size(), IFNAMSIZ - 1));
      if (::ioctl(fd.get(), SIOCGIFMTU, &request) == 0)
        return static_cast<std::uint32_t>(request.ifr_mtu);
    }
  return 0;
}

os::Fd OpenUdp(const Address& target) {
  const os::SocketAddress to = os::ToSocketAddress(target);
  os::Fd fd(::socket(to.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fd;
  // Sends packets up to the interface's MTU, unfragmented, and ignores MTUs that routers reported.
  const int probe = IP_PMTUDISC_PROBE;
  if (target.kind == Address::Kind::kIpv4)
    ::setsockopt(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof probe);
  else
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe, sizeof probe);
  if (const auto source = SourceFor(target)) {
    const os::SocketAddress from = os::ToSocketAddress(*source);
    static_cast<void>(::bind(fd.get(), from.get(), from.bytes));
  }
  if (::connect(fd.get(), to.get(), to.bytes) != 0) return os::Fd();
  return fd;
}

/// Returns the packet sizes to try for an interface with this MTU.
std::vector<std::uint32_t> PacketsFor(std::uint32_t mtu_bytes) {
  std::vector<std::uint32_t> packets = {std::min(mtu_bytes, kPacketBytesMax)};
  for (const std::uint32_t bytes : kPacketBytes)
    if (bytes < packets.front()) packets.push_back(bytes);
  if (packets.back() > kPacketBytesMin) packets.push_back(kPacketBytesMin);
  return packets;
}

/// Returns the largest datagram acknowledged by `until`. Stops once it reaches `enough`.
std::uint32_t LargestAcknowledged(const os::Fd& fd, const Secret& token, std::uint64_t enough,
                                  Instant until) {
  std::uint64_t largest = 0;
  while (largest < enough && Await(fd.get(), POLLIN, until)) {
    std::array<char, kMarkBytes + sizeof(std::uint64_t)> answer;
    const ssize_t got = ::recv(fd.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    if (got < 0 && errno != EAGAIN && errno != EINTR && errno != EMSGSIZE) break;
    std::uint64_t length = 0;
    if (got != static_cast<ssize_t>(answer.size()) ||
        std::memcmp(answer.data(), token.data(), kMarkBytes) != 0)
      continue;
    std::memcpy(&length, answer.data() + kMarkBytes, sizeof length);
    if (length <= enough) largest = std::max(largest, length);
  }
  return static_cast<std::uint32_t>(largest);
}

std::uint32_t ToldMtu(const os::Fd& fd, bool ipv4) {
  int mtu = 0;
  socklen_t bytes = sizeof mtu;
  const int asked = ipv4 ? ::getsockopt(fd.get(), IPPROTO_IP, IP_MTU, &mtu, &bytes)
                         : ::getsockopt(fd.get(), IPPROTO_IPV6, IPV6_MTU, &mtu, &bytes);
  return asked == 0 && mtu > 0 ? static_cast<std::uint32_t>(mtu) : 0;
}

void MeasureMtu(const ProbeTarget& target, const ProbeOptions& options, PairFacts& pair) {
  const os::Fd fd = OpenUdp(target.address);
  if (!fd.valid()) return;
  const bool ipv4 = target.address.kind == Address::Kind::kIpv4;
  const std::uint32_t header = ipv4 ? kIpv4HeaderBytes : kIpv6HeaderBytes;
  pair.mtu_bytes = std::min(InterfaceMtu(fd), kPacketBytesMax);
  if (pair.mtu_bytes < kPacketBytesMin) return;
  std::string datagram(kPacketBytesMax, 'x');
  std::memcpy(datagram.data(), options.token.data(), options.token.size());
  const std::uint64_t enough = pair.mtu_bytes - header;
  for (int i = 0; i < kDatagramTries && pair.passed_bytes < pair.mtu_bytes; ++i) {
    for (const std::uint32_t bytes : PacketsFor(pair.mtu_bytes))
      if (bytes > pair.passed_bytes)
        static_cast<void>(::send(fd.get(), datagram.data(), bytes - header, MSG_DONTWAIT));
    const std::uint32_t largest =
        LargestAcknowledged(fd, options.token, enough, os::Now() + kDatagramWait);
    if (largest > 0) pair.passed_bytes = std::max(pair.passed_bytes, largest + header);
  }
  const std::uint32_t told = ToldMtu(fd, ipv4);
  if (told < pair.mtu_bytes) pair.path_mtu_bytes = told;
}

PairFacts NewPair(const ProbeTarget& target) {
  PairFacts pair;
  pair.from = target.from;
  pair.to = target.to;
  pair.nic = target.nic;
  pair.address = ToString(target.address);
  return pair;
}

}  // namespace

std::vector<PairFacts> ProbeAll(const std::vector<ProbeTarget>& targets,
                                const ProbeOptions& options) {
  std::vector<PairFacts> pairs;
  std::vector<PendingConnection> reaching;
  const Instant begin = os::Now(), until = begin + options.timeout;
  for (const ProbeTarget& target : targets) {
    PairFacts pair = NewPair(target);
    SetFailed(pair, ETIMEDOUT);  // until a later result replaces it
    OpeningSocket connecting = BeginConnect(target.address, /*bind_source=*/false);
    if (!connecting.fd.valid()) SetFailed(pair, connecting.error);
    pairs.push_back(std::move(pair));
    const bool over = !connecting.fd.valid();
    reaching.push_back({.fd = std::move(connecting.fd), .over = over});
  }
  while (os::Now() < until) {
    std::vector<pollfd> watched;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < reaching.size(); ++i) {
      if (reaching[i].over) continue;
      const short events = reaching[i].connected ? POLLIN : POLLOUT;
      watched.push_back({.fd = reaching[i].fd.get(), .events = events, .revents = 0});
      of.push_back(i);
    }
    if (watched.empty()) break;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - os::Now());
    ::poll(watched.data(), watched.size(), static_cast<int>(left.count()) + 1);
    for (std::size_t i = 0; i < watched.size(); ++i)
      if (watched[i].revents != 0) Advance(reaching[of[i]], pairs[of[i]], options.token, begin);
  }
  return pairs;
}

PairFacts MeasurePair(const ProbeTarget& target, const ProbeOptions& options) {
  PairFacts pair = NewPair(target);
  MeasureLatency(target, options, pair);
  if (pair.reach != Contact::kConnected) return pair;
  MeasureMtu(target, options, pair);
  MeasureRate(target, options, pair);
  return pair;
}

}  // namespace ringlet::cli
