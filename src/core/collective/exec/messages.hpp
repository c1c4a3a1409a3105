// Messages between this rank and others: sends and receives that run together, in whatever order
// their peers come to them. An all-to-all with counts of its own for each pair is one of these too.
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

/// One message, at one of its ends. A send and its receive must have the same fingerprint; its
/// count may be 0.
struct Message {
  Rank peer{};
  bool sends = false;
  Fingerprint fingerprint;       ///< its root is who receives
  View from = {};                ///< the data to send
  std::span<std::byte> to = {};  ///< where what is received goes
  SentBytes* sent = nullptr;     ///< counts what was sent; outlives the run. Null: not counted
};

/// Messages to the same peer arrive in their order, and are matched with its receives in theirs;
/// those of different peers and directions do not wait for each other. A rank may send to itself.
class Messages final : public Operation {
 public:
  /// \param links  as Start says
  Messages(std::span<const Message> messages, Rank self, const LinkTo& links);
  Messages(std::initializer_list<Message> messages, Rank self, const LinkTo& links)
      : Messages(std::span(messages.begin(), messages.size()), self, links) {}
  ~Messages() override { Withdraw(); }
  /// Nothing to do yet.
  explicit Messages(Rank self) : self_(self) {}

  /// Begins anew; what was begun before is done or has failed. Takes no memory that it has not had
  /// before, as long as there are no more messages and peers than there ever were.
  /// False: there is no link to one of the peers; nothing will be sent.
  /// \param links  asked at most once for each peer other than this rank and each direction, now.
  ///               Those of the last time, as long as it asked all of these for one message each,
  ///               are used again without asking
  bool Start(std::span<const Message> messages, const LinkTo& links);

  /// Errors  kProtocol         a peer called something else; the sentence says what both called
  ///         kPeerLost, ...    as the link says
  ///         kInvalidArgument  no link to a peer; a message to this rank itself that it does not
  ///                           receive, or the other way round
  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override;
  /// After a failure of a link: whose it was.
  std::optional<Rank> Awaits() const override;
  void Withdraw() override;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  /// The bytes before the data: the header, and behind it, of messages that may be fetched, the
  /// link's name of the offer, u64 little-endian; 0: the data follow.
  static constexpr std::size_t kOfferBytes = 8;
  using Prefix = std::array<std::byte, kHeaderBytes + kOfferBytes>;
  /// One direction to one peer. Its messages go one after the other: `next_` says which.
  struct Lane {
    Rank peer{};
    bool sends = false;
    transport::Link* link = nullptr;
    std::size_t current = kNone;  // the message that goes
    std::size_t last = kNone;
    Prefix prefix = {};
    std::size_t prefix_end = 0;    // bytes of the current message's
    std::size_t prefix_bytes = 0;  // that have gone or come
    std::size_t bytes = 0;         // of the current message's data
    bool offered = false;          // the current message's data, and the peer has not answered
    std::uint64_t offer = 0;       // of the current message's data, by the peer; 0: they follow
  };

  bool TakesLastLanes();
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
  std::vector<std::size_t> next_;  // of the same lane
  Rank self_;
  std::vector<Lane> lanes_;
  std::optional<Error> error_;
  std::optional<Rank> lost_;  // the peer of the failed link
  bool own_left_ = false;     // messages to itself
  bool moved_ = false;
};

}  // namespace ringlet::collective
