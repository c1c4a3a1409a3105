// A Link of tagged messages over a Fabric.
//
// The stream of bytes is cut into messages. Each lands in one of a fixed number of buffers that the
// receiver has waiting under a tag of this link alone, and is read from there; credits come back
// under the next tag (credits.hpp). Writing copies into buffers of the link, which belong to the
// fabric until their messages have gone.
//
// The TCP connection over which the ranks met stays: the kernel closes it when a process dies,
// which a fabric does not tell. A rank that leaves says in it how many messages it has sent, so
// that the other does not take a message that is still on its way for one that was never sent.
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
  std::uint32_t buffers = 16;          ///< each way
  std::uint32_t buffer_bytes = 16384;  ///< of each: what libfabric's tcp;ofi_rxm sends in one go
};

/// The message of this rank about `fabric` to a peer. \param secret fresh; the tag is drawn from it
EndpointAddress AddressOf(const Fabric& fabric, const LinkOptions& options, const Secret& secret);

struct OfiLinkParts {
  Rank peer{};
  std::string peer_name;  ///< for errors, such as "rank 3 on host a at 10.0.0.5:4711"
  std::shared_ptr<Fabric> fabric;
  EndpointAddress mine;  ///< the number that the peer was told
  View theirs;           ///< the peer's EndpointAddress; outside input
  os::Fd line;           ///< the connection over which they met, non-blocking
  Bytes arrived = {};    ///< bytes already read from it
  /// Set by the waiter when the peer has hung up the line.
  std::shared_ptr<const std::atomic<bool>> gone = {};
  bool greets = false;  ///< the peer waits to be greeted; of two, one does
};

class OfiLink final : public Link {
 public:
  /// Errors  kProtocol     the peer's endpoint address is none
  ///         kUnsupported  its provider is another, or there is no room for one more link
  ///         kSystem       as Fabric
  static Result<std::unique_ptr<OfiLink>> Make(OfiLinkParts parts);
  /// Waits a moment for what was written to leave, then says goodbye. Unread data are dropped.
  ~OfiLink() override;

  /// Whether the peer has been heard: from then on what is written travels. Makes progress.
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
  /// Slots that are used in turn, over one piece of memory.
  struct MessageRing {
    std::vector<Slot> slots;
    std::shared_ptr<Memory> memory;
    std::size_t next =
        0;  // the first to send from; the oldest that waits for a message, or has one
    std::size_t idle = 0;  // receiving: so many before `next` do not wait again yet
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
  void HearCredits();
  void TellCredits();
  bool FrontArrived() const;
  bool Gone() const { return parts_.gone && parts_.gone->load(std::memory_order_relaxed); }
  void HearLastWords();
  void SayLastWords();
  void JudgeLoss();
  void Break(Error error);
  Error Lost(const std::string& why) const;

  OfiLinkParts parts_;
  const EndpointAddress theirs_;
  const Fabric::PeerAddress address_;
  SendCredits send_credits_;
  ReceiveCredits receive_credits_;
  std::shared_ptr<Rings> rings_ = std::make_shared<Rings>();
  std::size_t front_offset_ = 0;             // bytes of the oldest message that were consumed
  std::uint64_t received_ = 0;               // messages consumed whole
  bool heard_ = false;                       // the peer: a credit or its greeting
  bool greeting_due_ = false;                // ours
  std::uint64_t failures_seen_ = 0;          // of the fabric
  std::optional<std::uint64_t> last_words_;  // messages that the peer had sent when it left
  std::optional<Instant> gone_since_;
  std::optional<Error> lost_;        // nothing more arrives
  std::optional<Error> write_lost_;  // nothing more can be sent
};

struct OfiTransportParts {
  Neighbour self;
  std::shared_ptr<RankBell> bell;
  std::string provider = {};  ///< of libfabric; empty: its first choice
  LinkOptions options = {};
  TcpOptions tcp = {};  ///< of the connections over which the ranks meet
  Secret seed{};        ///< fresh from the system's random source
};

class OfiTransport final : public Transport {
 public:
  /// The rank's endpoint. Errors  kUnsupported  there is no libfabric; kSystem
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
  std::map<Rank, EndpointAddress> cards_;  // sent to each peer
};

}  // namespace ringlet::transport::ofi
