#include "collective/exec/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "transport/link/copy.hpp"
#include "transport/link/pipe.hpp"

namespace ringlet::collective {
namespace {

/// Bytes that one lane moves before the next has its turn. Large enough that calls cost little.
constexpr std::size_t kTurnBytes = 4 * kSliceBytes;

/// Data up to this size is written together with the header, so that a small message is one packet.
constexpr std::size_t kFirstMessageBytes = 1024;

/// Bytes to fetch per turn of a lane.
constexpr std::size_t kFetchedAtOnceBytes = 1 << 20;

/// Maximum size of data copied with the header. The rest is copied in pieces, to free room early.
constexpr std::size_t kAtOnceBytes = 16 << 10;

/// Usual maximum number of lanes in a group.
constexpr std::size_t kLanesReserved = 128;

/// Messages from these sizes on bypass the caches, which cannot hold them. Data through a link has
/// already been written once on its way.
constexpr std::size_t kStreamBytesMin = 6 << 20;
constexpr std::size_t kStreamFetchedBytesMin = 12 << 20;

/// Copies one piece of the arrived data, so that the sender soon has room.
Result<std::size_t> Stream(transport::Link& link, std::span<std::byte> to) {
  constexpr std::size_t kPieceBytes = 32 << 10;
  RINGLET_TRY_ASSIGN(const View arrived, link.Peek());
  const View piece = arrived.first(std::min({arrived.size(), to.size(), kPieceBytes}));
  transport::StreamCopy(piece, to.data());
  link.Consume(piece.size());
  return piece.size();
}

std::size_t BytesOf(const Message& message) {
  return message.fingerprint.count * SizeOf(message.fingerprint.type);
}

template <typename Prefix>
Header HeaderOf(const Prefix& prefix) {
  Header header;
  std::copy_n(prefix.begin(), header.size(), header.begin());
  return header;
}

}  // namespace

Messages::Messages(std::span<const Message> messages, Rank self, const LinkTo& links)
    : self_(self) {
  Start(messages, links);
}

bool Messages::Start(std::span<const Message> messages, const LinkTo& links) {
  messages_.assign(messages.begin(), messages.end());
  next_.assign(messages_.size(), kNone);
  own_left_ = moved_ = false;
  lost_.reset();
  if (ReuseLastLanes()) return true;
  lanes_.clear();
  lanes_.reserve(std::min(messages_.size(), kLanesReserved));
  error_.reset();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& message = messages_[i];
    RINGLET_ASSERT((message.sends ? message.from.size() : message.to.size()) == BytesOf(message));
    if (message.peer != self_) {
      Enqueue(i, links);
    } else {
      own_left_ = true;
    }
  }
  return !error_;
}

/// Reuses the lanes of the last messages, because most messages have the same peers. Returns true
/// if each message has the lane that its predecessor at the same index used alone.
bool Messages::ReuseLastLanes() {
  if (error_ || lanes_.empty() || lanes_.size() != messages_.size()) return false;
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].peer != messages_[i].peer || lanes_[i].sends != messages_[i].sends) return false;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    lane.last = i;
    Take(lane, i);
  }
  return true;
}

void Messages::Enqueue(std::size_t message, const LinkTo& links) {
  const Rank peer = messages_[message].peer;
  const bool sends = messages_[message].sends;
  auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                           [&](const Lane& one) { return one.peer == peer && one.sends == sends; });
  if (lane == lanes_.end()) {
    lanes_.push_back({.peer = peer, .sends = sends, .link = links(peer)});
    lane = lanes_.end() - 1;
    if (lane->link == nullptr && !error_) {
      error_ = Error{.code = Code::kInvalidArgument,
                     .message = fmt::format("rank {} does not have a link to rank {}", Index(self_),
                                            Index(peer))};
    }
  }
  if (lane->last != kNone) {
    next_[lane->last] = message;
  } else if (lane->link != nullptr) {
    Take(*lane, message);
  }
  lane->last = message;
}

Result<bool> Messages::Advance() {
  moved_ = false;
  if (error_) return *error_;
  bool open = false;
  if (std::exchange(own_left_, false)) {
    if (const Status copied = CopyOwn(); !copied.ok()) error_ = copied.error();
  }
  // All lanes may fail at once when a peer dies. An error about a different call explains the most.
  for (Lane& lane : lanes_) {
    const Status pumped = Pump(lane);
    const bool explains = !pumped.ok() && pumped.error().code == Code::kProtocol;
    if (!pumped.ok() && (!error_ || explains)) {
      error_ = pumped.error();
      lost_ = lane.peer;
    }
    open = open || lane.current != kNone;
  }
  if (error_) return *error_;
  return !open && std::all_of(lanes_.begin(), lanes_.end(),
                              [](const Lane& lane) { return lane.link->Settled(); });
}

/// Matches the n-th message that this rank sends to itself with the n-th that it receives.
Status Messages::CopyOwn() {
  std::vector<const Message*> sent, received;
  for (const Message& message : messages_) {
    if (message.peer == self_) (message.sends ? sent : received).push_back(&message);
  }
  for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
    if (i >= sent.size() || i >= received.size()) {
      const bool lacks_receive = i < sent.size();
      const Message& lonely = lacks_receive ? *sent[i] : *received[i];
      return Error{
          .code = Code::kInvalidArgument,
          .message = fmt::format("rank {} {} itself {} and does not {} it in the same group",
                                 Index(self_), lacks_receive ? "sends" : "awaits from",
                                 ToText(lonely.fingerprint), lacks_receive ? "receive" : "send")};
    }
    RINGLET_TRY(CheckHeader(EncodeHeader(sent[i]->fingerprint, self_), self_,
                            received[i]->fingerprint, self_));
    if (!sent[i]->from.empty()) {
      std::memmove(received[i]->to.data(), sent[i]->from.data(), sent[i]->from.size());
    }
    moved_ = true;
  }
  return Ok();
}

Status Messages::Pump(Lane& lane) {
  for (std::size_t turn_bytes = 0; turn_bytes < kTurnBytes;) {
    if (lane.current == kNone) return Ok();
    const Message& message = messages_[lane.current];
    RINGLET_TRY_ASSIGN(const std::size_t bytes,
                       lane.sends ? PumpSend(lane, message) : PumpReceive(lane, message));
    const bool done = lane.prefix_bytes == lane.prefix_end && lane.bytes == BytesOf(message);
    if (done && lane.sends && message.sent != nullptr)
      message.sent->Add(message.peer, 0, BytesOf(message));
    if (done && !lane.sends && lane.prefix_end > kHeaderBytes) lane.link->EndReceive();
    if (done) Take(lane, next_[lane.current]);
    if (bytes == 0 && !done) return Ok();
    moved_ = true;
    turn_bytes += bytes;
  }
  return Ok();
}

/// Starts the lane's next message, or none if it is kNone.
void Messages::Take(Lane& lane, std::size_t message) {
  lane.current = message;
  lane.prefix_bytes = lane.bytes = 0;
  lane.begun = lane.offered = false;
  lane.offer = 0;
  if (message == kNone) return;
  // Sender and receiver compute the same value.
  const bool fetchable =
      BytesOf(messages_[message]) >= transport::kRtsBytesMin && lane.link->fetches();
  lane.prefix_end = kHeaderBytes + (fetchable ? kOfferBytes : 0);
  if (fetchable && !lane.sends) lane.link->BeginReceive();
}

void Messages::BeginSend(Lane& lane, const Message& message) {
  const Header header = EncodeHeader(message.fingerprint, self_);
  std::copy(header.begin(), header.end(), lane.prefix.begin());
  if (lane.prefix_end == kHeaderBytes) return;
  const std::uint64_t offer = lane.link->SendRts(message.from);
  for (std::size_t i = 0; i < kOfferBytes; ++i)
    lane.prefix[kHeaderBytes + i] = static_cast<std::byte>(offer >> (8 * i));
  lane.offered = offer != 0;
}

Result<std::size_t> Messages::PumpSend(Lane& lane, const Message& message) {
  if (!std::exchange(lane.begun, true)) BeginSend(lane, message);
  const View prefix = View(lane.prefix).first(lane.prefix_end).subspan(lane.prefix_bytes);
  if (lane.offered && prefix.empty()) return AwaitAnswer(lane, message);
  const View data = lane.offered ? View() : message.from.subspan(lane.bytes);
  if (prefix.empty()) {
    RINGLET_TRY_ASSIGN(const std::size_t written,
                       lane.link->Write(data.first(std::min(data.size(), kTurnBytes))));
    lane.bytes += written;
    return written;
  }
  if (lane.link->in_memory() && prefix.size() + data.size() > transport::kPipeRecentBytes)
    return Written(lane, prefix.size(),
                   lane.link->WriteBoth(prefix, data.first(std::min(data.size(), kTurnBytes))));
  std::array<std::byte, std::tuple_size_v<Prefix> + kFirstMessageBytes> first;
  const std::size_t data_bytes = std::min(data.size(), kFirstMessageBytes);
  std::memcpy(first.data(), prefix.data(), prefix.size());
  if (data_bytes > 0) std::memcpy(first.data() + prefix.size(), data.data(), data_bytes);
  return Written(lane, prefix.size(),
                 lane.link->Write(View(first).first(prefix.size() + data_bytes)));
}

/// Accounts for written bytes of the rest of a prefix and of the data behind it.
Result<std::size_t> Messages::Written(Lane& lane, std::size_t prefix_left,
                                      Result<std::size_t> written) {
  if (!written.ok()) return written;
  const std::size_t of_prefix = std::min(*written, prefix_left);
  lane.prefix_bytes += of_prefix;
  lane.bytes += *written - of_prefix;
  return written;
}

Result<std::size_t> Messages::AwaitAnswer(Lane& lane, const Message& message) {
  RINGLET_TRY_ASSIGN(const std::optional<bool> fetched, lane.link->TakeAck());
  if (!fetched) return std::size_t{0};
  lane.offered = false;
  if (*fetched) lane.bytes = BytesOf(message);
  return std::size_t{1};  // counts as progress in either case
}

Result<std::size_t> Messages::PumpReceive(Lane& lane, const Message& message) {
  if (lane.prefix_bytes < lane.prefix_end) return ReceivePrefix(lane, message);
  const std::span<std::byte> rest = message.to.subspan(lane.bytes);
  if (rest.empty()) return std::size_t{0};
  if (lane.offer != 0) return GetPiece(lane, message);
  const bool streams = BytesOf(message) >= kStreamBytesMin && lane.link->in_memory();
  RINGLET_TRY_ASSIGN(const std::size_t received,
                     streams ? Stream(*lane.link, rest)
                             : lane.link->Read(rest.first(std::min(rest.size(), kTurnBytes))));
  lane.bytes += received;
  return received;
}

Result<std::size_t> Messages::ReceivePrefix(Lane& lane, const Message& message) {
  const std::size_t prefix_bytes = lane.prefix_end, before = lane.prefix_bytes;
  if (before == 0 && lane.link->in_memory()) {
    if (prefix_bytes + message.to.size() <= transport::kPipeRecentBytes)
      return ReceiveSmall(lane, message);
    RINGLET_TRY_ASSIGN(const View arrived, lane.link->Peek());
    if (arrived.empty()) return std::size_t{0};
    if (arrived.size() > prefix_bytes) return ReceiveAtOnce(lane, message, arrived);
  }
  RINGLET_TRY_ASSIGN(
      const std::size_t received,
      lane.link->Read(std::span(lane.prefix).subspan(before, prefix_bytes - before)));
  lane.prefix_bytes += received;
  RINGLET_TRY(ReadPrefix(lane, message, before));
  return received;
}

/// Interprets newly arrived bytes of the prefix; `before` bytes were there earlier. Checks the
/// header first, because another call has other bytes behind it.
Status Messages::ReadPrefix(Lane& lane, const Message& message, std::size_t before) {
  if (before < kHeaderBytes && lane.prefix_bytes >= kHeaderBytes)
    RINGLET_TRY(CheckHeader(HeaderOf(lane.prefix), lane.peer, message.fingerprint, self_));
  if (lane.prefix_bytes == lane.prefix.size())
    lane.offer = Reader(View(lane.prefix).subspan(kHeaderBytes)).U64();
  return Ok();
}

Result<std::size_t> Messages::GetPiece(Lane& lane, const Message& message) {
  const std::span<std::byte> rest = message.to.subspan(lane.bytes);
  const std::span<std::byte> piece = rest.first(std::min(rest.size(), kFetchedAtOnceBytes));
  const bool streams = BytesOf(message) >= kStreamFetchedBytesMin;
  const transport::CopyFunction copy = streams ? transport::StreamCopy : transport::Copy;
  RINGLET_TRY_ASSIGN(const bool fetched, lane.link->Get(lane.offer, lane.bytes, piece, copy));
  lane.bytes = fetched ? lane.bytes + piece.size() : 0;
  if (fetched && piece.size() < rest.size()) return piece.size();
  lane.offer = 0;
  lane.link->SendAck(fetched);
  return piece.size();
}

/// Receives header and data together from beside the pipe's counter.
Result<std::size_t> Messages::ReceiveSmall(Lane& lane, const Message& message) {
  std::array<std::byte, transport::kPipeRecentBytes> whole;
  RINGLET_TRY_ASSIGN(const std::size_t received,
                     lane.link->Read(std::span(whole).first(kHeaderBytes + message.to.size())));
  if (received == 0) return received;
  lane.prefix_bytes = std::min(received, kHeaderBytes);
  lane.bytes = received - lane.prefix_bytes;
  std::memcpy(lane.prefix.data(), whole.data(), lane.prefix_bytes);
  if (lane.prefix_bytes == kHeaderBytes)
    RINGLET_TRY(CheckHeader(HeaderOf(lane.prefix), lane.peer, message.fingerprint, self_));
  if (lane.bytes > 0) std::memcpy(message.to.data(), whole.data() + kHeaderBytes, lane.bytes);
  return received;
}

/// Receives the header and the contiguous arrived data behind it. Most messages arrive so.
Result<std::size_t> Messages::ReceiveAtOnce(Lane& lane, const Message& message, View arrived) {
  lane.prefix_bytes = lane.prefix_end;
  std::memcpy(lane.prefix.data(), arrived.data(), lane.prefix_bytes);
  RINGLET_TRY(ReadPrefix(lane, message, 0));
  const View data = arrived.subspan(lane.prefix_bytes);
  if (lane.offer == 0) lane.bytes = std::min({data.size(), message.to.size(), kAtOnceBytes});
  if (lane.bytes > 0) transport::Copy(data.first(lane.bytes), message.to.data());
  const std::size_t bytes = lane.prefix_bytes + lane.bytes;
  lane.link->Consume(bytes);
  return bytes;
}

void Messages::Withdraw() {
  for (Lane& lane : lanes_)
    if (std::exchange(lane.offered, false)) lane.link->Withdraw();
}

std::string Messages::Describe(const Lane& lane) const {
  const Message& message = messages_[lane.current];
  return fmt::format("rank {} to {} {} ({} of {} bytes have {})", Index(lane.peer),
                     lane.sends ? "take" : "send", ToText(message.fingerprint), lane.bytes,
                     BytesOf(message), lane.sends ? "been sent" : "arrived");
}

std::string Messages::WaitingFor() const {
  std::string who;
  for (const Lane& lane : lanes_) {
    if (lane.current == kNone) continue;
    who += (who.empty() ? "" : " and ") + Describe(lane);
  }
  return fmt::format("rank {} waits for {}", Index(self_),
                     who.empty() ? "its outgoing data to drain" : who);
}

std::optional<Rank> Messages::Awaits() const {
  if (error_ && lost_) return lost_;
  std::optional<Rank> receiver;
  for (const Lane& lane : lanes_) {
    if (lane.current == kNone) continue;
    if (!lane.sends) return lane.peer;
    receiver = lane.peer;
  }
  return receiver;
}

}  // namespace ringlet::collective
