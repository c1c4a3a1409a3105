// Messages: sends and receives between this rank and others that run together, in any order. An
// all-to-all with separate counts per pair consists of messages, too.
#pragma once
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/value/bytes.hpp"
#include "collective/call/fingerprint.hpp"
#include "collective/call/operation.hpp"
#include "collective/exec/executor.hpp"
#include "collective/exec/sent_bytes.hpp"

namespace ringlet::collective {

/// A message at one of its ends. A send and its receive must have equal fingerprints. The count may
/// be 0.
struct Message {
  Rank peer{};
  bool sends = false;
  Fingerprint fingerprint;       ///< its root is the receiver
  View from = {};                ///< data to send
  std::span<std::byte> to = {};  ///< destination of received data
  SentBytes* sent = nullptr;     ///< counts sent bytes, outlives the run; null to skip
};

/// Messages to one peer arrive in order and match its receives in order. Messages of different
/// peers or directions do not wait for each other. A rank may send to itself.
class Messages final : public Operation {
 public:
  /// \param links  as for Start
  Messages(std::span<const Message> messages, Rank self, const LinkTo& links);
  Messages(std::initializer_list<Message> messages, Rank self, const LinkTo& links)
      : Messages(std::span(messages.begin(), messages.size()), self, links) {}
  ~Messages() override { Withdraw(); }
  /// Has no messages yet.
  explicit Messages(Rank self) : self_(self) {}

  /// Starts new messages after the previous ones are done or have failed. Allocates only if the
  /// number of messages or peers exceeds its previous maximum. Returns false, and sends nothing, if
  /// a link to a peer is missing.
  /// \param links  called at most once per peer other than this rank and per direction, by Start.
  ///               If the last messages had the same peers, one message each, their links are
  ///               reused without a call
  bool Start(std::span<const Message> messages, const LinkTo& links);

  /// Errors  kProtocol         a peer made a different call; the message states both
  ///         kPeerLost, ...    as the link reports
  ///         kInvalidArgument  a link to a peer is missing; or a message to this rank itself lacks
  ///                           its receive or its send
  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override;
  /// After a failure of a link, returns its peer.
  std::optional<Rank> Awaits() const override;
  void Withdraw() override;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  /// The bytes before the data: the header and, if the message may be fetched, the link's number of
  /// the offer, u64 little-endian. An offer of 0 means that the data follows.
  static constexpr std::size_t kOfferBytes = 8;
  using Prefix = std::array<std::byte, kHeaderBytes + kOfferBytes>;
  /// One direction to one peer. Its messages run one after the other, linked by `next_`.
  struct Lane {
    Rank peer{};
    bool sends = false;
    transport::Link* link = nullptr;
    std::size_t current = kNone;  // the running message
    std::size_t last = kNone;
    Prefix prefix = {};
    bool begun = false;            // SendRts was called for the current message, if it needs one
    std::size_t prefix_end = 0;    // size of the current message's prefix
    std::size_t prefix_bytes = 0;  // bytes of it sent or received
    std::size_t bytes = 0;         // data bytes of the current message sent or received
    bool offered = false;          // the current message's data is on offer, without an answer
    std::uint64_t offer = 0;  // the peer's offer of the current message's data; 0: the data follows
  };

  bool ReuseLastLanes();
  void Enqueue(std::size_t message, const LinkTo& links);
  Status CopyOwn();
  Status Pump(Lane& lane);
  void Take(Lane& lane, std::size_t message);
  void BeginSend(Lane& lane, const Message& message);
  Result<std::size_t> PumpSend(Lane& lane, const Message& message);
  static Result<std::size_t> Written(Lane& lane, std::size_t prefix_left,
                                     Result<std::size_t> written);
  Result<std::size_t> AwaitAnswer(Lane& lane, const Message& message);
  Result<std::size_t> PumpReceive(Lane& lane, const Message& message);
  Result<std::size_t> ReceivePrefix(Lane& lane, const Message& message);
  Result<std::size_t> GetPiece(Lane& lane, const Message& message);
  Result<std::size_t> ReceiveSmall(Lane& lane, const Message& message);
  Result<std::size_t> ReceiveAtOnce(Lane& lane, const Message& message, View arrived);
  Status ReadPrefix(Lane& lane, const Message& message, std::size_t before);
  std::string Describe(const Lane& lane) const;

  std::vector<Message> messages_;
  std::vector<std::size_t> next_;  // next message of the same lane
  Rank self_;
  std::vector<Lane> lanes_;
  std::optional<Error> error_;
  std::optional<Rank> lost_;  // peer of the failed link
  bool own_left_ = false;     // messages to itself remain
  bool moved_ = false;
};

}  // namespace ringlet::collective
