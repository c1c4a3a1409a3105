#include "transport/tcp/tcp_link.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "os/error.hpp"
#include "os/net/congestion.hpp"
#include "os/net/sockaddr.hpp"
#include "transport/link/copy.hpp"
#include "transport/tcp/striped_link.hpp"

namespace ringlet::transport {
namespace {

void Set(int fd, int level, int option, int value) {
  // Best effort: a socket that rejects a tuning option still carries bytes.
  ::setsockopt(fd, level, option, &value, sizeof value);
}

constexpr std::size_t kShortBytes = 4096;
constexpr const char* kHungUp = "it closed the connection";

bool WouldBlock(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

void TuneSocket(int fd, const TcpOptions& options) {
  constexpr int kProbes = 3;
  const auto silence_max_ms = static_cast<int>(options.silence_max.count());
  const int probe_s = std::max(1, silence_max_ms / 1000 / (2 * kProbes));
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, silence_max_ms / 2000));
  Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, probe_s);
  Set(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, silence_max_ms);
  if (options.socket_buffer_bytes == 0) return;
  Set(fd, SOL_SOCKET, SO_SNDBUF, static_cast<int>(options.socket_buffer_bytes));
  Set(fd, SOL_SOCKET, SO_RCVBUF, static_cast<int>(options.socket_buffer_bytes));
}

TcpLink::TcpLink(TcpLinkParts parts)
    : peer_(parts.peer),
      peer_name_(std::move(parts.peer_name)),
      socket_(std::move(parts.socket)),
      gone_(std::move(parts.gone)),
      send_queues_(std::move(parts.send_queues)),
      buffer_(std::max<std::size_t>({parts.options.receive_buffer_bytes, parts.arrived.size(), 1})),
      end_(parts.arrived.size()) {
  std::copy(parts.arrived.begin(), parts.arrived.end(), buffer_.begin());
  TuneSocket(socket_.get(), parts.options);
  if (send_queues_) send_queues_->Add(peer_, socket_.get());
}

TcpLink::~TcpLink() {
  if (send_queues_) send_queues_->Remove(socket_.get());
  ::shutdown(socket_.get(), SHUT_WR);
  // Closing a socket that has unread data sends a reset, and a reset overtakes written data.
  constexpr int kDropsMax = 64;
  for (int i = 0; i < kDropsMax; ++i)
    if (::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT) <= 0) break;
}

Error TcpLink::LostError(const std::string& why) const {
  return Error{Code::kPeerLost, fmt::format("the link to {} (tcp) broke: {}", peer_name_, why)};
}

Result<std::size_t> TcpLink::Write(View data) {
  if (write_lost_ || lost_) return write_lost_ ? *write_lost_ : *lost_;
  if (data.empty()) return std::size_t{0};
  if (gone_ && gone_->load(std::memory_order_relaxed)) {
    write_lost_ = LostError(kHungUp);
    return *write_lost_;
  }
  const ssize_t sent = ::send(socket_.get(), data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (WouldBlock(errno)) return std::size_t{0};
  write_lost_ = LostError(os::ErrnoText(errno));  // arrived bytes remain readable
  return *write_lost_;
}

std::size_t TcpLink::TakeBuffered(std::span<std::byte> out) {
  const std::size_t taken = std::min(out.size(), end_ - begin_);
  if (taken > 0) Copy(View(buffer_).subspan(begin_, taken), out.data());
  Consume(taken);
  return taken;
}

Result<std::size_t> TcpLink::Read(std::span<std::byte> out) {
  if (out.empty()) return std::size_t{0};
  const std::size_t taken = TakeBuffered(out);
  if (taken == out.size()) return taken;
  if (lost_) return taken > 0 ? Result<std::size_t>(taken) : *lost_;
  auto received = Receive(out.subspan(taken));
  if (!received.ok()) return taken > 0 ? Result<std::size_t>(taken) : received;
  return taken + *received;
}

// Receives into `out` and, with the same call, receives later bytes into the empty buffer. If `out`
// is large, it skips the buffer, because the rest is better received directly into the next `out`.
Result<std::size_t> TcpLink::Receive(std::span<std::byte> out) {
  std::array<iovec, 2> pieces = {iovec{out.data(), out.size()},
                                 iovec{buffer_.data(), buffer_.size()}};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = out.size() < buffer_.size() / 4 ? 2 : 1;
  const ssize_t received = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
  if (received < 0 && WouldBlock(errno)) return std::size_t{0};
  if (received <= 0) {
    lost_ = LostError(received == 0 ? std::string(kHungUp) : os::ErrnoText(errno));
    return *lost_;
  }
  const auto bytes = static_cast<std::size_t>(received);
  if (bytes > out.size()) end_ = bytes - out.size();
  return std::min(bytes, out.size());
}

Result<View> TcpLink::Peek() {
  // Avoids a system call while the caller still works on bytes from the last Peek.
  if (end_ - begin_ < kShortBytes || !consumed_since_peek_) Fill();
  consumed_since_peek_ = false;
  if (begin_ == end_ && lost_) return *lost_;
  return View(buffer_).subspan(begin_, end_ - begin_);
}

void TcpLink::Fill() {
  MakeRoom();
  if (end_ == buffer_.size() || lost_) return;
  const ssize_t received =
      ::recv(socket_.get(), buffer_.data() + end_, buffer_.size() - end_, MSG_DONTWAIT);
  if (received > 0) {
    end_ += static_cast<std::size_t>(received);
  } else if (received == 0 || !WouldBlock(errno)) {
    lost_ = LostError(received == 0 ? std::string(kHungUp) : os::ErrnoText(errno));
  }
}

// Moves a short remainder to the front, so that the next arrivals are contiguous with it.
void TcpLink::MakeRoom() {
  if (begin_ == 0 || end_ - begin_ > kShortBytes) return;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

void TcpLink::Consume(std::size_t bytes) {
  RINGLET_ASSERT(bytes <= end_ - begin_);
  begin_ += bytes;
  consumed_since_peek_ = true;
  if (begin_ == end_) begin_ = end_ = 0;
}

std::string NamedAt(const Neighbour& peer, const os::Fd& socket) {
  os::SocketAddress remote;
  remote.bytes = sizeof remote.storage;
  if (::getpeername(socket.get(), remote.get(), &remote.bytes) != 0) return Named(peer);
  return fmt::format("{} at {}", Named(peer), ToString(os::FromSocketAddress(remote)));
}

Result<std::unique_ptr<Link>> TcpTransport::Make(const Neighbour& peer,
                                                 std::span<PeerConnection> met) {
  std::vector<std::unique_ptr<Link>> strands;
  for (PeerConnection& line : met) {
    RINGLET_TRY_ASSIGN(auto strand, MakeStrand(peer, std::move(line)));
    strands.push_back(std::move(strand));
  }
  if (strands.size() == 1) return std::move(strands.front());
  return std::unique_ptr<Link>(std::make_unique<StripedLink>(std::move(strands)));
}

Result<std::unique_ptr<Link>> TcpTransport::MakeStrand(const Neighbour& peer, PeerConnection line) {
  std::string name = NamedAt(peer, line.socket);
  if (!parts_.congestion.empty())
    RINGLET_TRY(os::SetCongestionControl(line.socket, parts_.congestion));
  auto gone = std::make_shared<std::atomic<bool>>(false);
  RINGLET_TRY(parts_.bell->waiter->WatchSocket(line.socket.get(), gone));
  return std::unique_ptr<Link>(
      std::make_unique<TcpLink>(TcpLinkParts{.peer = peer.rank,
                                             .peer_name = std::move(name),
                                             .socket = std::move(line.socket),
                                             .arrived = std::move(line.unread),
                                             .options = parts_.options,
                                             .gone = std::move(gone),
                                             .send_queues = parts_.send_queues}));
}

}  // namespace ringlet::transport
