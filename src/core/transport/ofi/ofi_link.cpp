#include "transport/ofi/ofi_link.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "transport/link/copy.hpp"
#include "transport/ofi/libfabric.hpp"

namespace ringlet::transport::ofi {
namespace {

constexpr std::size_t kCreditBytes = 8, kLastWordsBytes = 8;
// Data that a peer sent before it left arrives within this time, or never.
constexpr std::chrono::seconds kStragglersMax(5);
constexpr const char* kPeerClosed = "it closed the connection";

void PutCount(std::span<std::byte> to, std::uint64_t count) {
  Writer out;
  out.U64(count);
  std::memcpy(to.data(), out.view().data(), out.size());
}

}  // namespace

EndpointAddress AddressOf(const Fabric& fabric, const LinkOptions& options, const Secret& secret) {
  // The tag is a secret. Without it a peer can at worst fill the provider's memory.
  const std::uint64_t drawn = Reader(View(secret)).U64();
  return {.provider = fabric.provider(),
          .name = Bytes(fabric.name().begin(), fabric.name().end()),
          .tag = drawn & fabric.tag_mask() & ~std::uint64_t{1},
          .buffers = options.buffers,
          .buffer_bytes = options.buffer_bytes};
}

// ---- construction -------------------------------------------------------------------------------

OfiLink::OfiLink(OfiLinkParts parts, const EndpointAddress& theirs, Fabric::PeerAddress address)
    : parts_(std::move(parts)),
      theirs_(theirs),
      address_(address),
      send_credits_(theirs.buffers),
      receive_credits_(parts_.mine.buffers),
      greeting_due_(parts_.greets) {}

Result<std::unique_ptr<OfiLink>> OfiLink::Make(OfiLinkParts parts) {
  const auto blame = [&](Error error) {
    error.message = fmt::format("{}: {}", parts.peer_name, error.message);
    return error;
  };
  auto theirs = DecodeEndpointAddress(parts.theirs);
  if (!theirs.ok()) return blame(theirs.error());
  if (theirs->provider != parts.mine.provider)
    return blame(
        {Code::kUnsupported,
         fmt::format("it uses libfabric's provider {} and its peer {}: name one for all "
                     "with RINGLET_OFI_PROVIDER",
                     Printable(theirs->provider, kProviderBytesMax), parts.mine.provider)});
  const auto address = parts.fabric->Reach(theirs->name);
  if (!address.ok()) return blame(address.error());
  std::unique_ptr<OfiLink> link(new OfiLink(std::move(parts), *theirs, *address));
  RINGLET_TRY(link->Prepare());
  return link;
}

Status OfiLink::MakeRing(MessageRing& ring, std::uint32_t slots, std::size_t slot_bytes) {
  RINGLET_TRY_ASSIGN(ring.memory, parts_.fabric->Allocate(slots * slot_bytes));
  ring.slots = std::vector<Slot>(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    ring.slots[i].buffer = ring.memory->bytes().subspan(i * slot_bytes, slot_bytes);
    ring.slots[i].registration = ring.memory->registration();
  }
  return Ok();
}

Status OfiLink::Prepare() {
  const EndpointAddress& mine = parts_.mine;
  // The peer's number limits the bytes in flight but not the allocations of this rank.
  RINGLET_TRY(MakeRing(rings_->data_out, std::min(mine.buffers, theirs_.buffers),
                       std::min(mine.buffer_bytes, theirs_.buffer_bytes)));
  RINGLET_TRY(MakeRing(rings_->data_in, mine.buffers, mine.buffer_bytes));
  RINGLET_TRY(MakeRing(rings_->credit_out, kCreditBuffers, kCreditBytes));
  RINGLET_TRY(MakeRing(rings_->credit_in, kCreditBuffers, kCreditBytes));
  rings_->data_in.idle = mine.buffers;
  rings_->credit_in.idle = kCreditBuffers;
  RINGLET_TRY(Await(rings_->data_in, mine.tag));
  RINGLET_TRY(Await(rings_->credit_in, mine.tag + 1));
  if (rings_->data_in.idle + rings_->credit_in.idle > 0)
    return Error{Code::kUnsupported,
                 fmt::format("libfabric's provider {} lacks room for one more link, to {}",
                             mine.provider, parts_.peer_name)};
  return Ok();
}

/// Makes the idle slots of `ring` wait, as far as the provider accepts them.
Status OfiLink::Await(MessageRing& ring, std::uint64_t tag) {
  const std::size_t size = ring.slots.size();
  for (; ring.idle > 0; --ring.idle) {
    Slot& slot = ring.slots[(ring.next + size - ring.idle) % size];
    RINGLET_TRY_ASSIGN(const bool waits, parts_.fabric->Receive(tag, slot));
    if (!waits) break;
  }
  return Ok();
}

// ---- progress -----------------------------------------------------------------------------------

void OfiLink::Serve() {
  parts_.fabric->Progress();
  NoteFailures();
  ReceiveCreditMessages();
  Refill();
  SendCreditMessage();
}

void OfiLink::NoteFailures() {
  if (failures_seen_ == parts_.fabric->failures()) return;
  failures_seen_ = parts_.fabric->failures();
  // A failed credit message is harmless: the connection reports the loss of the peer.
  for (const Slot& slot : rings_->data_out.slots)
    if (!slot.failure.empty() && !write_lost_) write_lost_ = LostError(slot.failure);
  for (const MessageRing* const ring : {&rings_->data_in, &rings_->credit_in})
    for (const Slot& slot : ring->slots)
      if (!slot.failure.empty()) Break(LostError(slot.failure));
}

void OfiLink::Refill() {
  if (lost_) return;
  const std::size_t idle = rings_->data_in.idle;
  if (const Status waits = Await(rings_->data_in, parts_.mine.tag); !waits.ok())
    return Break(LostError(waits.error().message));
  for (std::size_t i = rings_->data_in.idle; i < idle; ++i) receive_credits_.Freed();
}

void OfiLink::ReceiveCreditMessages() {
  MessageRing& ring = rings_->credit_in;
  while (!lost_ && ring.idle < ring.slots.size() && !ring.front().pending) {
    Reader in(View(ring.front().buffer).first(ring.front().bytes));
    const std::uint64_t freed = in.U64();
    const Status told = in.AtEnd() ? send_credits_.RecordReport(freed)
                                   : Error{Code::kProtocol, "credits in an unknown format"};
    if (!told.ok())
      return Break({Code::kProtocol,
                    fmt::format("{} (ofi) sent {}", parts_.peer_name, told.error().message)});
    if (!heard_ && !parts_.greets) greeting_due_ = true;
    heard_ = true;
    ring.Pass();
    ++ring.idle;
    if (const Status waits = Await(ring, parts_.mine.tag + 1); !waits.ok())
      return Break(LostError(waits.error().message));
  }
}

void OfiLink::SendCreditMessage() {
  if (!receive_credits_.IsDue() && !greeting_due_) return;
  MessageRing& ring = rings_->credit_out;
  if (lost_ || IsPeerGone() || ring.front().pending) return;
  PutCount(ring.front().buffer, receive_credits_.freed());
  const auto sent = SendFront(ring, theirs_.tag + 1, kCreditBytes);
  if (!sent.ok() || !*sent) return;  // later; on an error the connection reports the reason
  receive_credits_.RecordReport();
  greeting_due_ = false;
}

Result<bool> OfiLink::SendFront(MessageRing& ring, std::uint64_t tag, std::size_t bytes) {
  RINGLET_TRY_ASSIGN(const bool sent, parts_.fabric->Send(address_, tag, ring.front(), bytes));
  if (sent) ring.Pass();
  return sent;
}

Result<bool> OfiLink::Opened() {
  Serve();
  if (IsPeerGone()) JudgeLoss();
  if (lost_) return *lost_;
  return heard_ && !greeting_due_ && !rings_->credit_out.pending();
}

bool OfiLink::Settled() {
  if (lost_ || write_lost_ || IsPeerGone()) return true;
  if (!receive_credits_.IsDue() && !rings_->data_out.pending() && !rings_->credit_out.pending())
    return true;
  Serve();
  return !receive_credits_.IsDue() && !rings_->data_out.pending() && !rings_->credit_out.pending();
}

// ---- writing ------------------------------------------------------------------------------------

Result<std::size_t> OfiLink::Write(View data) {
  if (write_lost_ || lost_) return write_lost_ ? *write_lost_ : *lost_;
  if (data.empty()) return std::size_t{0};
  if (IsPeerGone()) write_lost_ = LostError(kPeerClosed);
  std::size_t written = WriteSome(data);
  if (written < data.size() && !write_lost_) {
    Serve();
    written += WriteSome(data.subspan(written));
  }
  if (written > 0) return written;
  if (write_lost_ || lost_) return write_lost_ ? *write_lost_ : *lost_;
  return std::size_t{0};
}

std::size_t OfiLink::WriteSome(View data) {
  std::size_t written = 0;
  MessageRing& ring = rings_->data_out;
  while (written < data.size() && !write_lost_ && !lost_ && send_credits_.MaySend() &&
         !ring.front().pending) {
    const std::size_t bytes = std::min(data.size() - written, ring.front().buffer.size());
    Copy(data.subspan(written, bytes), ring.front().buffer.data());
    const auto sent = SendFront(ring, theirs_.tag, bytes);
    if (!sent.ok()) write_lost_ = LostError(sent.error().message);
    if (!sent.ok() || !*sent) break;
    send_credits_.Sent();
    written += bytes;
  }
  return written;
}

// ---- reading ------------------------------------------------------------------------------------

bool OfiLink::FrontArrived() const {
  const MessageRing& ring = rings_->data_in;
  const Slot& front = ring.slots[ring.next];
  return ring.idle < ring.slots.size() && !front.pending && front.failure.empty();
}

Result<View> OfiLink::Peek() {
  if (!FrontArrived()) Serve();
  if (!FrontArrived()) JudgeLoss();
  const Slot& front = rings_->data_in.front();
  if (FrontArrived()) return View(front.buffer).first(front.bytes).subspan(front_offset_);
  if (lost_) return *lost_;
  return View();
}

void OfiLink::Consume(std::size_t bytes) {
  if (bytes == 0) return;
  MessageRing& ring = rings_->data_in;
  RINGLET_ASSERT(FrontArrived() && front_offset_ + bytes <= ring.front().bytes);
  front_offset_ += bytes;
  if (front_offset_ < ring.front().bytes) return;
  front_offset_ = 0;
  ++received_;
  ring.Pass();
  ++ring.idle;
  Refill();
  SendCreditMessage();
}

Result<std::size_t> OfiLink::Read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const Result<View> arrived = Peek();
    if (!arrived.ok() && done == 0) return arrived.error();
    if (!arrived.ok() || arrived->empty()) break;
    const std::size_t bytes = std::min(arrived->size(), out.size() - done);
    Copy(arrived->first(bytes), out.data() + done);
    Consume(bytes);
    done += bytes;
  }
  return done;
}

// ---- destruction and loss -----------------------------------------------------------------------

OfiLink::~OfiLink() {
  const Instant until = parts_.fabric->DrainDeadline(os::Now());
  while (!Settled() && os::Now() < until) std::this_thread::yield();
  SendLastMessage();
  parts_.fabric->Retire(std::move(rings_));
}

void OfiLink::SendLastMessage() {
  std::array<std::byte, kLastWordsBytes> words;
  PutCount(words, send_credits_.sent());
  // The empty socket takes all eight bytes or, if the peer has left, none.
  ::send(parts_.line.get(), words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(parts_.line.get(), SHUT_WR);
}

void OfiLink::ReceiveLastMessage() {
  if (gone_since_) return;
  gone_since_ = os::Now();
  std::array<std::byte, kLastWordsBytes + 1> words;
  const ssize_t heard = ::recv(parts_.line.get(), words.data(), words.size(), MSG_DONTWAIT);
  if (heard > 0) parts_.arrived.insert(parts_.arrived.end(), words.begin(), words.begin() + heard);
  Reader in(parts_.arrived);
  const std::uint64_t sent = in.U64();
  if (in.AtEnd()) last_words_ = sent;
}

/// Decides whether more data arrives. \pre  Nothing is left to read.
void OfiLink::JudgeLoss() {
  if (lost_ || !IsPeerGone()) return;
  ReceiveLastMessage();
  while (parts_.fabric->Progress() > 0) {
  }
  NoteFailures();
  if (FrontArrived()) return;
  const bool under_way = last_words_ && received_ < *last_words_;
  if (under_way && os::Now() - *gone_since_ < kStragglersMax) return;
  if (!lost_) lost_ = LostError(kPeerClosed);
}

void OfiLink::Break(Error error) {
  if (!lost_) lost_ = std::move(error);
}

Error OfiLink::LostError(const std::string& why) const {
  return Error{Code::kPeerLost,
               fmt::format("the link to {} (ofi) broke: {}", parts_.peer_name, why)};
}

Result<std::unique_ptr<Transport>> OfiTransport::Open(OfiTransportParts parts) {
  const std::vector<Address>& own = parts.self.tcp;
  RINGLET_TRY_ASSIGN(auto fabric, OpenLibfabric({.provider = parts.provider,
                                                 .source = own.empty() ? Address() : own.front()}));
  RINGLET_TRY(parts.bell->waiter->WatchSource(fabric));
  return std::unique_ptr<Transport>(new OfiTransport(std::move(parts), std::move(fabric)));
}

Status OfiTransport::Expect(std::span<const Neighbour* const> peers) {
  for (const Neighbour* peer : peers) {
    Writer rank;
    rank.U32(Index(peer->rank));
    // The nonces of the wireup, which peers see, use the same seed with another label.
    cards_[peer->rank] = AddressOf(*fabric_, parts_.options,
                                   KeyedHash(parts_.seed, {AsView("tag of a link"), rank.view()}));
  }
  return Ok();
}

Result<LineOffer> OfiTransport::Invite(const Neighbour& peer) {
  return LineOffer{.purpose = Purpose::kFabric, .offer = Encode(cards_.at(peer.rank))};
}

Result<std::unique_ptr<Link>> OfiTransport::Make(const Neighbour& peer,
                                                 std::span<PeerConnection> met) {
  PeerConnection& line = met.front();
  TuneSocket(line.socket.get(), parts_.tcp);
  auto gone = std::make_shared<std::atomic<bool>>(false);
  RINGLET_TRY(parts_.bell->waiter->WatchSocket(line.socket.get(), gone));
  std::string name = NamedAt(peer, line.socket);
  RINGLET_TRY_ASSIGN(auto link, OfiLink::Make({.peer = peer.rank,
                                               .peer_name = std::move(name),
                                               .fabric = fabric_,
                                               .mine = cards_.at(peer.rank),
                                               .theirs = line.offer,
                                               .line = std::move(line.socket),
                                               .arrived = std::move(line.unread),
                                               .gone = std::move(gone),
                                               .greets = parts_.self.rank < peer.rank}));
  return std::unique_ptr<Link>(std::move(link));
}

// Endpoints connect with their first message, which needs calls of both ranks. After that, a rank
// can write while the other does not call.
Status OfiTransport::AwaitOpen(std::span<Link* const> links, Instant deadline,
                               const std::stop_token& abort) {
  constexpr std::chrono::milliseconds kAbortPeriod(10);
  DoorbellWaiter& waiter = *parts_.bell->waiter;
  std::vector<OfiLink*> opening;
  for (Link* link : links) opening.push_back(static_cast<OfiLink*>(link));
  while (!opening.empty()) {
    const Waiter::Ticket ticket = waiter.Prepare();
    for (std::size_t i = opening.size(); i-- > 0;) {
      RINGLET_TRY_ASSIGN(const bool open, opening[i]->Opened());
      if (open) opening.erase(opening.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (opening.empty()) break;
    if (abort.stop_requested())
      return Error{Code::kAborted,
                   fmt::format("aborted while {} was connecting", Named(parts_.self))};
    if (os::Now() >= deadline)
      return Error{Code::kTimeout,
                   fmt::format("{} was reached, but its libfabric endpoint ({}) does not answer "
                               "that of {}; {} such links are missing. Do RINGLET_SOCKET_IFNAME "
                               "and RINGLET_OFI_PROVIDER name a network that joins them?",
                               opening.front()->peer_name(), fabric_->provider(),
                               Named(parts_.self), opening.size())};
    waiter.Wait(ticket, kAbortPeriod);
  }
  return Ok();
}

}  // namespace ringlet::transport::ofi
