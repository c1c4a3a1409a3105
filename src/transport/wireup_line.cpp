#include "transport/wireup_line.hpp"

#include <fmt/format.h>

#include "base/wire/frame.hpp"

namespace ringlet::transport {
namespace {

constexpr std::uint8_t kWireupHello = 1;
constexpr std::uint8_t kRefusal = 2;
constexpr std::size_t kPayloadBytesMax = kOfferBytesMax + 64;
constexpr std::size_t kRefusalBytesMax = 500;

Result<Heard> Parse(std::uint8_t type, View payload) {
  Reader in(payload);
  if (type == kRefusal) {
    Refusal refusal{in.Text(kRefusalBytesMax)};
    for (char& c : refusal.why)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    if (in.AtEnd()) return Heard(std::move(refusal));
  }
  if (type == kWireupHello) {
    WireupHello hello;
    hello.from = static_cast<Rank>(in.U32());
    hello.to = static_cast<Rank>(in.U32());
    hello.strand = in.U8();
    hello.descriptors = in.U8();
    const View offer = in.Blob(kOfferBytesMax);
    hello.offer.assign(offer.begin(), offer.end());
    if (in.AtEnd()) return Heard(std::move(hello));
  }
  return Error{
      Code::kProtocol,
      fmt::format("a wireup hello that does not parse (type {}, {} bytes)", type, payload.size())};
}

}  // namespace

Bytes Encode(const WireupHello& hello) {
  RINGLET_ASSERT(hello.offer.size() <= kOfferBytesMax);
  Writer frame = BeginFrame(kWireupHello);
  frame.U32(Index(hello.from)).U32(Index(hello.to));
  frame.U8(hello.strand).U8(hello.descriptors).Blob(hello.offer);
  return EndFrame(std::move(frame));
}

Bytes Encode(const Refusal& refusal) {
  Writer frame = BeginFrame(kRefusal);
  frame.Text(std::string_view(refusal.why).substr(0, kRefusalBytesMax));
  return EndFrame(std::move(frame));
}

Status WireupLine::Push(const Received& received) {
  View rest = received.data.bytes;
  silent_ = silent_ && rest.empty();
  descriptors_.insert(descriptors_.end(), received.descriptors.begin(), received.descriptors.end());
  if (descriptors_.size() > kDescriptorsPerOfferMax)
    return Error{Code::kProtocol, "a peer that sends too many descriptors"};
  if (!handshake_.done()) RINGLET_TRY(handshake_.Push(rest));
  unread_.insert(unread_.end(), rest.begin(), rest.end());
  return Ok();
}

Bytes WireupLine::TakeReply() {
  Bytes reply = handshake_.TakeOutput();
  answered_ = answered_ || !reply.empty();
  return reply;
}

bool WireupLine::JustOpened() {
  if (announced_ || !handshake_.done()) return false;
  announced_ = true;
  return true;
}

// Not a FrameReader: what follows the one frame belongs to the link and must come out again.
Result<std::optional<Heard>> WireupLine::Next() {
  if (!handshake_.done() || unread_.size() < kFrameHeaderBytes) return std::optional<Heard>();
  Reader header(unread_);
  const std::size_t payload_bytes = header.U32();
  const std::uint8_t type = header.U8();
  if (payload_bytes > kPayloadBytesMax)
    return Error{Code::kProtocol, fmt::format("a wireup hello of {} bytes", payload_bytes)};
  const std::size_t frame_bytes = kFrameHeaderBytes + payload_bytes;
  if (unread_.size() < frame_bytes) return std::optional<Heard>();
  RINGLET_TRY_ASSIGN(Heard heard,
                     Parse(type, View(unread_).subspan(kFrameHeaderBytes, payload_bytes)));
  const auto* const hello = std::get_if<WireupHello>(&heard);
  if (hello && hello->descriptors != descriptors_.size())
    return Error{Code::kProtocol, fmt::format("{} descriptors instead of {}", descriptors_.size(),
                                              hello->descriptors)};
  unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(frame_bytes));
  return std::optional<Heard>(std::move(heard));
}

}  // namespace ringlet::transport
