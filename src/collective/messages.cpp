#include "collective/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "collective/reduce.hpp"

namespace ringlet::collective {
namespace {

/// What one lane moves before the others have their turn: enough for the calls to weigh little.
constexpr std::size_t kTurnBytes = 4 * kSliceBytes;

/// Data that fits behind the header goes out in one write with it: a small message is one packet.
constexpr std::size_t kFirstWriteBytes = 1024;

/// Lanes that a group usually has at most.
constexpr std::size_t kLanesReserved = 128;

/// Messages of this size are written past the caches, which do not hold them.
constexpr std::size_t kStreamBytesMin = 6 << 20;

/// One piece of what has arrived, so that the sender has room soon.
Result<std::size_t> Stream(transport::Link& link, std::span<std::byte> to) {
  constexpr std::size_t kPieceBytes = 32 << 10;
  RINGLET_TRY_ASSIGN(const View arrived, link.Peek());
  const View piece = arrived.first(std::min({arrived.size(), to.size(), kPieceBytes}));
  StreamCopy(piece, to.data());
  link.Consume(piece.size());
  return piece.size();
}

std::size_t BytesOf(const Message& message) {
  return message.fingerprint.count * SizeOf(message.fingerprint.type);
}

}  // namespace

Messages::Messages(std::vector<Message> messages, Rank self, const LinkTo& links)
    : messages_(std::move(messages)), next_(messages_.size(), kNone), self_(self) {
  lanes_.reserve(std::min(messages_.size(), kLanesReserved));
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& message = messages_[i];
    RINGLET_ASSERT((message.sends ? message.from.size() : message.to.size()) == BytesOf(message));
    if (message.peer != self_) Enqueue(i, links);
  }
}

void Messages::Enqueue(std::size_t message, const LinkTo& links) {
  const Rank peer = messages_[message].peer;
  const bool sends = messages_[message].sends;
  auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                           [&](const Lane& one) { return one.peer == peer && one.sends == sends; });
  if (lane == lanes_.end()) {
    lanes_.push_back({.peer = peer, .sends = sends, .link = links(peer, 0)});
    lane = lanes_.end() - 1;
    if (lane->link == nullptr && !error_) {
      error_ = Error{
          .code = Code::kInvalidArgument,
          .message = fmt::format("rank {} has no link to rank {}", Index(self_), Index(peer))};
    }
  }
  (lane->last == kNone ? lane->current : next_[lane->last]) = message;
  lane->last = message;
}

Result<bool> Messages::Advance() {
  moved_ = false;
  if (error_) return *error_;
  bool open = false;
  if (!std::exchange(started_, true)) {
    if (const Status copied = CopyOwn(); !copied.ok()) error_ = copied.error();
  }
  // All may fail at once when a peer dies; those that say that it called something else know best.
  for (Lane& lane : lanes_) {
    const Status pumped = Pump(lane);
    const bool explains = !pumped.ok() && pumped.error().code == Code::kProtocol;
    if (!pumped.ok() && (!error_ || explains)) error_ = pumped.error();
    open = open || lane.current != kNone;
  }
  if (error_) return *error_;
  return !open;
}

/// The n-th message to itself is the n-th that it receives from itself.
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
    const bool done = lane.header_bytes == kHeaderBytes && lane.bytes == BytesOf(message);
    if (done) {
      lane.current = next_[lane.current];
      lane.header_bytes = lane.bytes = 0;
    }
    if (bytes == 0 && !done) return Ok();
    moved_ = true;
    turn_bytes += bytes;
  }
  return Ok();
}

Result<std::size_t> Messages::PumpSend(Lane& lane, const Message& message) {
  if (lane.header_bytes == 0) lane.header = EncodeHeader(message.fingerprint, self_);
  const View header = View(lane.header).subspan(lane.header_bytes);
  const View data = message.from.subspan(lane.bytes);
  if (header.empty()) {
    RINGLET_TRY_ASSIGN(const std::size_t written,
                       lane.link->Write(data.first(std::min(data.size(), kTurnBytes))));
    lane.bytes += written;
    return written;
  }
  std::array<std::byte, kHeaderBytes + kFirstWriteBytes> first;
  const std::size_t data_bytes = std::min(data.size(), kFirstWriteBytes);
  std::copy(header.begin(), header.end(), first.begin());
  if (data_bytes > 0) std::memcpy(first.data() + header.size(), data.data(), data_bytes);
  RINGLET_TRY_ASSIGN(const std::size_t written,
                     lane.link->Write(View(first).first(header.size() + data_bytes)));
  const std::size_t header_written = std::min(written, header.size());
  lane.header_bytes += header_written;
  lane.bytes += written - header_written;
  return written;
}

Result<std::size_t> Messages::PumpReceive(Lane& lane, const Message& message) {
  if (lane.header_bytes < kHeaderBytes) {
    RINGLET_TRY_ASSIGN(const std::size_t received,
                       lane.link->Read(std::span(lane.header).subspan(lane.header_bytes)));
    lane.header_bytes += received;
    if (received > 0 && lane.header_bytes == kHeaderBytes) {
      RINGLET_TRY(CheckHeader(lane.header, lane.peer, message.fingerprint, self_));
    }
    return received;
  }
  const std::span<std::byte> rest = message.to.subspan(lane.bytes);
  if (rest.empty()) return std::size_t{0};
  const bool streams = BytesOf(message) >= kStreamBytesMin && lane.link->in_memory();
  RINGLET_TRY_ASSIGN(const std::size_t received,
                     streams ? Stream(*lane.link, rest)
                             : lane.link->Read(rest.first(std::min(rest.size(), kTurnBytes))));
  lane.bytes += received;
  return received;
}

std::string Messages::Describe(const Lane& lane) const {
  const Message& message = messages_[lane.current];
  return fmt::format("rank {} to {} {} ({} of {} bytes have {})", Index(lane.peer),
                     lane.sends ? "take" : "send", ToText(message.fingerprint), lane.bytes,
                     BytesOf(message), lane.sends ? "gone" : "come");
}

std::string Messages::WaitingFor() const {
  std::string who;
  for (const Lane& lane : lanes_) {
    if (lane.current == kNone) continue;
    who += (who.empty() ? "" : " and ") + Describe(lane);
  }
  return fmt::format("rank {} {}", Index(self_),
                     who.empty() ? "waits for nobody" : "waits for " + who);
}

std::optional<Rank> Messages::Awaits() const {
  std::optional<Rank> receiver;
  for (const Lane& lane : lanes_) {
    if (lane.current == kNone) continue;
    if (!lane.sends) return lane.peer;
    receiver = lane.peer;
  }
  return receiver;
}

}  // namespace ringlet::collective
