#include "tool/doctor/probe_server.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sodium.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "os/clock.hpp"
#include "os/error.hpp"
#include "os/net/sockaddr.hpp"
#include "os/process/thread.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kProbeCallersMax = 256;  // connections at once
constexpr Instant kCallerLife = std::chrono::seconds(30);
constexpr Instant kProbeDrain = std::chrono::seconds(2);
constexpr std::size_t kProbeReadBytes = 1 << 18;
constexpr std::chrono::milliseconds kProbeTick(50);
constexpr std::size_t kDatagramBytesMax = 65'536;
constexpr int kProbeReadsAtOnce = 8;  // keeps one caller from delaying the others

struct ProbeCaller {
  os::Fd fd;
  Instant since{0};
  std::string head = {};  // the token and the kind, until both are complete
  std::optional<ProbeKind> kind = {};
  ProbeCount count = {};
  Instant count_from{0};
  std::string echo = {};
  bool answered = false;
  bool over = false;
};

/// Sends a small answer as a whole. Fails if the caller does not read and the buffer is full.
bool Answer(const os::Fd& fd, const void* bytes, std::size_t count) {
  return ::send(fd.get(), bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(count);
}

void TakeEchoes(ProbeCaller& caller, std::string_view bytes) {
  caller.echo.append(bytes);
  while (caller.echo.size() >= kEchoBytes) {
    if (!Answer(caller.fd, caller.echo.data(), kEchoBytes)) caller.over = true;
    caller.echo.erase(0, kEchoBytes);
  }
}

/// Compares in constant time.
bool BeginsWith(const char* bytes, const Secret& token) {
  return sodium_memcmp(bytes, token.data(), token.size()) == 0;
}

/// Collects the head and compares it as a whole. Returns the bytes after it.
std::string_view TakeHead(ProbeCaller& caller, std::string_view bytes, const Secret& token) {
  const std::size_t wanted = token.size() + 1 - caller.head.size();
  const std::size_t taken = std::min(wanted, bytes.size());
  caller.head.append(bytes.substr(0, taken));
  if (taken < wanted) return {};
  const auto kind = static_cast<ProbeKind>(caller.head.back());
  if (!BeginsWith(caller.head.data(), token) ||
      (kind != ProbeKind::kEcho && kind != ProbeKind::kCount)) {
    caller.over = true;
    return {};
  }
  caller.kind = kind;
  return bytes.substr(taken);
}

void Take(ProbeCaller& caller, std::string_view bytes, const Secret& token) {
  if (!caller.kind) bytes = TakeHead(caller, bytes, token);
  if (!caller.kind || bytes.empty()) return;
  if (*caller.kind == ProbeKind::kEcho) return TakeEchoes(caller, bytes);
  if (caller.count_from.count() == 0)
    caller.count_from = os::Now();  // the first bytes were sent before the clock started
  else
    caller.count.bytes += bytes.size();
}

void ReadCaller(ProbeCaller& caller, std::vector<char>& buffer, const Secret& token) {
  for (int reads = 0; reads < kProbeReadsAtOnce && !caller.over; ++reads) {
    const ssize_t got = ::recv(caller.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      caller.over = true;
      return;
    }
    Take(caller, {buffer.data(), static_cast<std::size_t>(got)}, token);
  }
}

void CheckTime(ProbeCaller& caller, Instant now) {
  if (now - caller.since > kCallerLife) caller.over = true;
  if (caller.answered || caller.count_from.count() == 0 || now - caller.count_from < kCountTime)
    return;
  caller.count.ns = static_cast<std::uint64_t>((now - caller.count_from).count());
  Answer(caller.fd, &caller.count, sizeof caller.count);
  // Closing with unread bytes would reset the connection and lose the answer.
  ::shutdown(caller.fd.get(), SHUT_WR);
  caller.answered = true;
  caller.since = now - kCallerLife + kProbeDrain;
}

/// Makes room for a connection. Closes the oldest one that has not shown the token, so that
/// strangers replace only each other.
bool MakeRoom(std::vector<ProbeCaller>& callers) {
  if (callers.size() < kProbeCallersMax) return true;
  const auto stranger =
      std::ranges::find_if(callers, [](const ProbeCaller& caller) { return !caller.kind; });
  if (stranger == callers.end()) return false;
  callers.erase(stranger);
  return true;
}

void AcceptAll(const os::Fd& listener, std::vector<ProbeCaller>& callers) {
  while (true) {
    os::Fd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) return;
    const int yes = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (MakeRoom(callers)) callers.push_back({.fd = std::move(fd), .since = os::Now()});
  }
}

void AnswerDatagrams(const os::Fd& socket, std::vector<char>& buffer, const Secret& token) {
  for (int reads = 0; reads < kProbeReadsAtOnce; ++reads) {
    os::SocketAddress from;
    from.bytes = sizeof from.storage;
    const ssize_t got = ::recvfrom(socket.get(), buffer.data(), kDatagramBytesMax, MSG_DONTWAIT,
                                   from.get(), &from.bytes);
    if (got < static_cast<ssize_t>(token.size()) || !BeginsWith(buffer.data(), token)) {
      if (got < 0) return;
      continue;
    }
    const auto length = static_cast<std::uint64_t>(got);
    std::array<char, kMarkBytes + sizeof length> answer;
    std::memcpy(answer.data(), token.data(), kMarkBytes);
    std::memcpy(answer.data() + kMarkBytes, &length, sizeof length);
    ::sendto(socket.get(), answer.data(), answer.size(), MSG_DONTWAIT, from.get(), from.bytes);
  }
}

os::Fd OpenDatagrams(const Address& at) {
  const os::SocketAddress address = os::ToSocketAddress(at);
  os::Fd fd(::socket(address.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid() || ::bind(fd.get(), address.get(), address.bytes) != 0) return os::Fd();
  return fd;
}

std::vector<pollfd> Watched(const os::Fd& wake, const std::vector<os::Listener>& listeners,
                            const std::vector<os::Fd>& datagrams,
                            const std::vector<ProbeCaller>& callers) {
  std::vector<pollfd> watched = {{.fd = wake.get(), .events = POLLIN, .revents = 0}};
  const auto watch = [&](int fd) { watched.push_back({.fd = fd, .events = POLLIN, .revents = 0}); };
  for (const os::Listener& listener : listeners) watch(listener.fd.get());
  for (const os::Fd& socket : datagrams) watch(socket.get());
  for (const ProbeCaller& caller : callers) watch(caller.fd.get());
  return watched;
}

}  // namespace

Result<std::unique_ptr<ProbeServer>> ProbeServer::Start(const std::vector<Address>& addresses,
                                                        const Secret& token) {
  std::vector<os::Listener> listeners;
  std::vector<os::Fd> datagrams;
  Error last{Code::kSystem, "an address to listen at is missing"};
  for (const Address& address : addresses) {
    Result<os::Listener> listener = os::Listen(address);
    if (!listener.ok()) {
      last = listener.error();
      continue;
    }
    os::Fd socket = OpenDatagrams(listener->address);
    if (socket.valid()) datagrams.push_back(std::move(socket));
    listeners.push_back(*std::move(listener));
  }
  if (listeners.empty()) return last;
  std::unique_ptr<ProbeServer> server(
      new ProbeServer(std::move(listeners), std::move(datagrams), token));
  server->wake_ = os::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!server->wake_.valid()) return os::SystemError("cannot make an event descriptor", errno);
  RINGLET_TRY_ASSIGN(
      server->thread_,
      os::StartThread("to answer probes",
                      [at = server.get()](const std::stop_token& stop) { at->Serve(stop); }));
  return server;
}

ProbeServer::ProbeServer(std::vector<os::Listener> listeners, std::vector<os::Fd> datagrams,
                         const Secret& token)
    : listeners_(std::move(listeners)), datagrams_(std::move(datagrams)), token_(token) {}

std::vector<Address> ProbeServer::endpoints() const {
  std::vector<Address> endpoints;
  for (const os::Listener& listener : listeners_) endpoints.push_back(listener.address);
  return endpoints;
}

void ProbeServer::Serve(const std::stop_token& stop) {
  const std::stop_callback waking(stop, [this] {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
  });
  std::vector<ProbeCaller> callers;
  std::vector<char> buffer(kProbeReadBytes);
  while (!stop.stop_requested()) {
    const std::size_t known = callers.size();
    std::vector<pollfd> watched = Watched(wake_, listeners_, datagrams_, callers);
    ::poll(watched.data(), watched.size(), static_cast<int>(kProbeTick.count()));
    std::size_t at = 1 + listeners_.size();
    for (const os::Fd& socket : datagrams_)
      if (watched[at++].revents != 0) AnswerDatagrams(socket, buffer, token_);
    for (std::size_t i = 0; i < known; ++i)
      if (watched[at++].revents != 0) ReadCaller(callers[i], buffer, token_);
    const Instant now = os::Now();
    for (ProbeCaller& caller : callers) CheckTime(caller, now);
    std::erase_if(callers, [](const ProbeCaller& caller) { return caller.over; });
    for (std::size_t i = 0; i < listeners_.size(); ++i)
      if (watched[1 + i].revents != 0) AcceptAll(listeners_[i].fd, callers);
  }
}

}  // namespace ringlet::cli
