#include "transport/ofi/endpoint_card.hpp"

namespace ringlet::transport::ofi {
namespace {

constexpr std::uint8_t kCardVersion = 1;

bool InBounds(const EndpointCard& card) {
  return !card.provider.empty() && !card.name.empty() && (card.tag & 1) == 0 && card.buffers >= 1 &&
         card.buffers <= kBuffersMax && card.buffer_bytes >= kBufferBytesMin &&
         card.buffer_bytes <= kBufferBytesMax;
}

}  // namespace

Bytes Encode(const EndpointCard& card) {
  Writer out;
  out.U8(kCardVersion).Text(card.provider).Blob(card.name);
  out.U64(card.tag).U32(card.buffers).U32(card.buffer_bytes);
  return out.Take();
}

Result<EndpointCard> DecodeEndpointCard(View bytes) {
  Reader in(bytes);
  const std::uint8_t version = in.U8();
  EndpointCard card;
  card.provider = in.Text(kProviderBytesMax);
  const View name = in.Blob(kNameBytesMax);
  card.name.assign(name.begin(), name.end());
  card.tag = in.U64();
  card.buffers = in.U32();
  card.buffer_bytes = in.U32();
  if (!in.AtEnd() || version != kCardVersion || !InBounds(card))
    return Error{Code::kProtocol, "a card of a libfabric endpoint that does not parse"};
  return card;
}

}  // namespace ringlet::transport::ofi
