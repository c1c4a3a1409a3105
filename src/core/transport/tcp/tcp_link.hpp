// TcpLink: a Link over one connected TCP socket.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "os/fs/fd.hpp"
#include "transport/link/doorbell_waiter.hpp"
#include "transport/link/link.hpp"
#include "transport/link/transport.hpp"
#include "transport/tcp/send_queues.hpp"

namespace ringlet::transport {

struct TcpOptions {
  /// Bytes to read ahead of the caller, so that one system call receives whole messages.
  std::size_t receive_buffer_bytes = 256 * 1024;
  /// Size of the kernel's buffers, per direction. 0: the kernel tunes them itself.
  std::size_t socket_buffer_bytes = 0;
  /// A peer that acknowledges nothing for this long is lost.
  std::chrono::milliseconds silence_max{30'000};
};

/// Makes the kernel send written data at once, and makes it detect within silence_max that the host
/// at the other end is silent. Best effort.
void TuneSocket(int fd, const TcpOptions& options);

struct TcpLinkParts {
  Rank peer{};
  std::string peer_name;  ///< for errors, such as "rank 3 on host a at 10.0.0.5:4711"
  os::Fd socket;          ///< connected, non-blocking
  Bytes arrived = {};     ///< bytes of the link that were already read from `socket`
  TcpOptions options = {};
  /// Set by the waiter when the peer has hung up. A write would fail much later.
  std::shared_ptr<const std::atomic<bool>> gone = {};
  std::shared_ptr<SendQueues> send_queues = {};  ///< of the rank; may be null
};

class TcpLink final : public Link {
 public:
  explicit TcpLink(TcpLinkParts parts);
  /// Closes the connection. Written data still travels, and unread data is dropped.
  ~TcpLink() override;

  Result<std::size_t> Write(View data) override;
  Result<std::size_t> Read(std::span<std::byte> out) override;
  Result<View> Peek() override;
  void Consume(std::size_t bytes) override;
  Rank peer() const override { return peer_; }
  std::string_view kind() const override { return "tcp"; }

 private:
  std::size_t TakeBuffered(std::span<std::byte> out);
  Result<std::size_t> Receive(std::span<std::byte> out);
  void Fill();
  void MakeRoom();
  Error LostError(const std::string& why) const;

  Rank peer_;
  std::string peer_name_;
  os::Fd socket_;
  std::shared_ptr<const std::atomic<bool>> gone_;
  std::shared_ptr<SendQueues> send_queues_;
  Bytes buffer_;  // [begin_, end_) holds arrived, unconsumed bytes
  std::size_t begin_ = 0, end_ = 0;
  bool consumed_since_peek_ = false;
  std::optional<Error> lost_;        // set if the link cannot receive any more
  std::optional<Error> write_lost_;  // set if the link cannot send any more
};

/// Returns "rank 3 on host a at 10.0.0.5:4711", with the address at the other end of `socket`.
std::string NamedAt(const Neighbour& peer, const os::Fd& socket);

struct TcpTransportParts {
  std::shared_ptr<RankBell> bell;
  TcpOptions options = {};
  std::uint32_t strands = 1;  ///< connections per link
  /// Congestion control, such as "cubic". Empty for the kernel's default.
  std::string congestion = {};
  std::shared_ptr<SendQueues> send_queues;
};

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(TcpTransportParts parts) : parts_(std::move(parts)) {}

  Status Expect(std::span<const Neighbour* const>) override { return Ok(); }
  std::uint32_t lines() const override { return parts_.strands; }
  Result<LineOffer> Invite(const Neighbour&) override { return LineOffer{}; }
  Result<std::unique_ptr<Link>> Make(const Neighbour& peer, std::span<PeerConnection> met) override;

 private:
  Result<std::unique_ptr<Link>> MakeStrand(const Neighbour& peer, PeerConnection line);

  const TcpTransportParts parts_;
};

}  // namespace ringlet::transport
