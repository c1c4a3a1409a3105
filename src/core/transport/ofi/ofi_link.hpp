// OfiLink: a Link of tagged messages over a Fabric.
//
// The link splits the stream of bytes into messages. The receiver keeps a fixed number of buffers
// waiting under a tag that only this link uses, and reads each message from its buffer. Credits
// travel back under the next tag (credits.hpp). Writing copies data into buffers of the link, which
// belong to the fabric until it has sent their messages.
//
// The TCP connection from the wireup stays open. The kernel closes it when a process dies, while a
// fabric does not report that. A rank that leaves sends its total number of messages over it, so
// that the peer can tell a message in flight from one that was never sent.
#pragma once
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/wire/handshake.hpp"
#include "os/fs/fd.hpp"
#include "transport/link/doorbell_waiter.hpp"
#include "transport/link/link.hpp"
#include "transport/link/transport.hpp"
#include "transport/ofi/credits.hpp"
#include "transport/ofi/endpoint_address.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/tcp/tcp_link.hpp"

namespace ringlet::transport::ofi {

struct LinkOptions {
  std::uint32_t buffers = 16;          ///< per direction
  std::uint32_t buffer_bytes = 16384;  ///< per buffer; what libfabric's tcp;ofi_rxm sends at once
};

/// Describes `fabric` for a peer. \param secret  fresh; the tag is derived from it
EndpointAddress AddressOf(const Fabric& fabric, const LinkOptions& options, const Secret& secret);

struct OfiLinkParts {
  Rank peer{};
  std::string peer_name;  ///< for errors, such as "rank 3 on host a at 10.0.0.5:4711"
  std::shared_ptr<Fabric> fabric;
  EndpointAddress mine;  ///< as sent to the peer
  View theirs;           ///< EndpointAddress of the peer; outside input
  os::Fd line;           ///< the connection from the wireup, non-blocking
  Bytes arrived = {};    ///< bytes that were already read from `line`
  /// Set by the waiter when the peer has closed `line`.
  std::shared_ptr<const std::atomic<bool>> gone = {};
  bool greets = false;  ///< true on one rank of a pair: the one that sends its greeting first
};

class OfiLink final : public Link {
 public:
  /// Errors  kProtocol     the peer's endpoint address does not parse
  ///         kUnsupported  the peer uses another provider, or the provider cannot hold another link
  ///         kSystem       as Fabric
  static Result<std::unique_ptr<OfiLink>> Make(OfiLinkParts parts);
  /// Waits briefly for outgoing data to drain, then sends its message count. Drops unread data.
  ~OfiLink() override;

  /// Makes progress. Returns true once the peer has sent a message. Then written data travels.
  Result<bool> Opened();

  Result<std::size_t> Write(View data) override;
  Result<std::size_t> Read(std::span<std::byte> out) override;
  Result<View> Peek() override;
  void Consume(std::size_t bytes) override;
  bool Settled() override;
  Rank peer() const override { return parts_.peer; }
  const std::string& peer_name() const { return parts_.peer_name; }
  std::string_view kind() const override { return "ofi"; }
  bool in_memory() const override { return true; }

 private:
  /// Slots in one piece of memory, used in turn.
  struct MessageRing {
    std::vector<Slot> slots;
    std::shared_ptr<Memory> memory;
    std::size_t next = 0;  // first to send from; oldest that waits or holds a message
    std::size_t idle = 0;  // receiving: number of slots before `next` that do not wait yet
    Slot& front() { return slots[next]; }
    void Pass() { next = (next + 1) % slots.size(); }
    bool pending() const {
      return std::any_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.pending; });
    }
  };
  struct Rings {
    MessageRing data_out, data_in, credit_out, credit_in;
  };

  OfiLink(OfiLinkParts parts, const EndpointAddress& theirs, Fabric::PeerAddress address);
  Status Prepare();
  Status MakeRing(MessageRing& ring, std::uint32_t slots, std::size_t slot_bytes);
  Status Await(MessageRing& ring, std::uint64_t tag);
  Result<bool> SendFront(MessageRing& ring, std::uint64_t tag, std::size_t bytes);
  std::size_t WriteSome(View data);
  void Serve();
  void NoteFailures();
  void Refill();
  void ReceiveCreditMessages();
  void SendCreditMessage();
  bool FrontArrived() const;
  bool IsPeerGone() const { return parts_.gone && parts_.gone->load(std::memory_order_relaxed); }
  void ReceiveLastMessage();
  void SendLastMessage();
  void JudgeLoss();
  void Break(Error error);
  Error LostError(const std::string& why) const;

  OfiLinkParts parts_;
  const EndpointAddress theirs_;
  const Fabric::PeerAddress address_;
  SendCredits send_credits_;
  ReceiveCredits receive_credits_;
  std::shared_ptr<Rings> rings_ = std::make_shared<Rings>();
  std::size_t front_offset_ = 0;             // consumed bytes of the oldest message
  std::uint64_t received_ = 0;               // messages consumed completely
  bool heard_ = false;                       // a credit or a greeting has arrived
  bool greeting_due_ = false;                // this rank has yet to greet
  std::uint64_t failures_seen_ = 0;          // last value of Fabric::failures()
  std::optional<std::uint64_t> last_words_;  // total number of messages of a peer that left
  std::optional<Instant> gone_since_;
  std::optional<Error> lost_;        // set if the link cannot receive any more
  std::optional<Error> write_lost_;  // set if the link cannot send any more
};

struct OfiTransportParts {
  Neighbour self;
  std::shared_ptr<RankBell> bell;
  std::string provider = {};  ///< of libfabric; empty for its first choice
  LinkOptions options = {};
  TcpOptions tcp = {};  ///< for the connections from the wireup
  Secret seed{};        ///< fresh from the system's random source
};

class OfiTransport final : public Transport {
 public:
  /// Opens the rank's endpoint. Errors  kUnsupported  libfabric is missing; kSystem
  static Result<std::unique_ptr<Transport>> Open(OfiTransportParts parts);

  Status Expect(std::span<const Neighbour* const> peers) override;
  Result<LineOffer> Invite(const Neighbour& peer) override;
  Result<std::unique_ptr<Link>> Make(const Neighbour& peer, std::span<PeerConnection> met) override;
  Status AwaitOpen(std::span<Link* const> links, Instant deadline,
                   const std::stop_token& abort) override;

 private:
  OfiTransport(OfiTransportParts parts, std::shared_ptr<Fabric> fabric)
      : parts_(std::move(parts)), fabric_(std::move(fabric)) {}

  const OfiTransportParts parts_;
  const std::shared_ptr<Fabric> fabric_;
  std::map<Rank, EndpointAddress> cards_;  // as sent to each peer
};

}  // namespace ringlet::transport::ofi
