// Tagged messages that have arrived before a receive requests them.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::bootstrap {

struct MailboxLimits {
  std::size_t messages_max = 65'536;
  std::size_t bytes_max = std::size_t{256} << 20;
};

/// Messages with at least this tag need no receive: the service thread handles them on arrival.
inline constexpr std::uint64_t kPushedTag = std::uint64_t{1} << 63;

struct PushedMessage {
  Rank from{};
  std::uint64_t tag = 0;
  Bytes message = {};
};

/// Messages of one (sender, tag) keep their order. Look-up is O(log n).
class Mailbox {
 public:
  explicit Mailbox(MailboxLimits limits) : limits_(limits) {}

  /// Errors  kProtocol  the mailbox is full; the message names sender, tag and bound. It is not
  ///                    queued, so the caller must fail.
  Status Put(Rank from, std::uint64_t tag, Bytes message);

  std::optional<Bytes> Take(Rank from, std::uint64_t tag);
  /// Takes the oldest message, of any sender, with a tag of at least kPushedTag.
  std::optional<PushedMessage> TakePushed();

  std::size_t messages() const { return messages_; }
  std::size_t bytes() const { return bytes_; }

 private:
  MailboxLimits limits_;
  std::map<std::pair<Rank, std::uint64_t>, std::deque<Bytes>> queues_;
  std::deque<PushedMessage> pushed_;
  std::size_t messages_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace ringlet::bootstrap
