#include "transport/wireup/wireup_hello.hpp"

#include <fmt/format.h>

#include "base/wire/frame.hpp"

namespace ringlet::transport {
namespace {

constexpr std::uint8_t kWireupHello = 1;
constexpr std::uint8_t kWireupRefusal = 2;
constexpr std::size_t kRefusalBytesMax = 500;

}  // namespace

Bytes Encode(const WireupHello& hello) {
  RINGLET_ASSERT(hello.offer.size() <= kOfferBytesMax);
  Writer frame = BeginFrame(kWireupHello);
  frame.U32(Index(hello.from)).U32(Index(hello.to));
  frame.U8(hello.strand).U8(hello.descriptors).Blob(hello.offer);
  return EndFrame(std::move(frame));
}

Bytes Encode(const WireupRefusal& refusal) {
  Writer frame = BeginFrame(kWireupRefusal);
  frame.Text(std::string_view(refusal.why).substr(0, kRefusalBytesMax));
  return EndFrame(std::move(frame));
}

Result<std::variant<WireupHello, WireupRefusal>> ParseWireup(const Frame& frame,
                                                             std::size_t descriptors) {
  using Said = std::variant<WireupHello, WireupRefusal>;
  Reader in(frame.payload.bytes);
  if (frame.type == kWireupRefusal) {
    WireupRefusal refusal{in.Text(kRefusalBytesMax)};
    for (char& c : refusal.why)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    if (in.AtEnd()) return Said(std::move(refusal));
  }
  if (frame.type == kWireupHello) {
    WireupHello hello;
    hello.from = static_cast<Rank>(in.U32());
    hello.to = static_cast<Rank>(in.U32());
    hello.strand = in.U8();
    hello.descriptors = in.U8();
    const View offer = in.Blob(kOfferBytesMax);
    hello.offer.assign(offer.begin(), offer.end());
    if (in.AtEnd() && hello.descriptors != descriptors)
      return Error{Code::kProtocol,
                   fmt::format("{} descriptors instead of {}", descriptors, hello.descriptors)};
    if (in.AtEnd()) return Said(std::move(hello));
  }
  return Error{Code::kProtocol,
               fmt::format("a wireup hello that does not parse (type {}, {} bytes)", frame.type,
                           frame.payload.bytes.size())};
}

}  // namespace ringlet::transport
