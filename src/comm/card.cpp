#include "comm/card.hpp"

#include <algorithm>

namespace ringlet::comm {

Bytes Encode(const Card& card) {
  Writer out;
  out.U64(card.host_hash).U64(card.process_hash).U64(card.network_namespace);
  out.U64(card.host_view_digest).U64(card.settings_digest).U32(card.device).U32(card.numa);
  const std::size_t count = std::min(card.tcp.size(), kCardAddressesMax);
  out.U8(static_cast<std::uint8_t>(count));
  for (std::size_t i = 0; i < count; ++i) ringlet::Encode(out, card.tcp[i]);
  ringlet::Encode(out, card.unix_socket);
  return out.Take();
}

Result<Card> DecodeCard(View bytes) {
  Reader in(bytes);
  Card card;
  card.host_hash = in.U64();
  card.process_hash = in.U64();
  card.network_namespace = in.U64();
  card.host_view_digest = in.U64();
  card.settings_digest = in.U64();
  card.device = in.U32();
  card.numa = in.U32();
  const std::size_t count = in.U8();
  if (count > kCardAddressesMax) in.Fail();
  for (std::size_t i = 0; i < count && in.ok(); ++i) card.tcp.push_back(DecodeAddress(in));
  card.unix_socket = DecodeAddress(in);
  if (!in.AtEnd()) return Error{Code::kProtocol, "a rank's card that cannot be read"};
  return card;
}

}  // namespace ringlet::comm
