#include "comm/card.hpp"

#include <algorithm>

namespace ringlet::comm {
namespace {

constexpr std::uint8_t kNamed = 1, kOnGpu = 2, kOnHalf = 4;

void EncodeDevice(Writer& out, const Card& card) {
  const bool half = card.gpu && card.half;
  out.U8(static_cast<std::uint8_t>((card.names_device ? kNamed : 0) | (card.gpu ? kOnGpu : 0) |
                                   (half ? kOnHalf : 0)));
  if (card.gpu) out.U64(card.gpu->value);
  if (half) out.U8(*card.half);
}

void DecodeDevice(Reader& in, Card& card) {
  const std::uint8_t flags = in.U8();
  if (flags > (kNamed | kOnGpu | kOnHalf) || (flags & (kOnGpu | kOnHalf)) == kOnHalf) in.Fail();
  card.names_device = (flags & kNamed) != 0;
  if ((flags & kOnGpu) != 0) card.gpu = topology::BusId{in.U64()};
  if ((flags & kOnHalf) != 0) card.half = in.U8();
}

topology::CpuSet FirstRanges(const topology::CpuSet& cpus) {
  topology::CpuSet first;
  for (std::size_t i = 0; i < std::min(cpus.ranges().size(), kCardCpuRangesMax); ++i)
    first = first.JoinedWith(topology::CpuSet::Of(cpus.ranges()[i].first, cpus.ranges()[i].last));
  return first;
}

}  // namespace

Bytes Encode(const Card& card) {
  Writer out;
  out.U64(card.host_hash).U64(card.process_hash).U64(card.network_namespace);
  out.U64(card.host_shape_digest).U64(card.settings_digest).U32(card.device).U32(card.numa);
  EncodeDevice(out, card);
  Encode(out, FirstRanges(card.cpus));
  const std::size_t count = std::min(card.tcp.size(), kCardAddressesMax);
  out.U8(static_cast<std::uint8_t>(count));
  out.U8(static_cast<std::uint8_t>(std::min(card.near, count)));
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
  card.host_shape_digest = in.U64();
  card.settings_digest = in.U64();
  card.device = in.U32();
  card.numa = in.U32();
  DecodeDevice(in, card);
  card.cpus = topology::DecodeCpuSet(in);
  if (card.cpus.ranges().size() > kCardCpuRangesMax) in.Fail();
  const std::size_t count = in.U8();
  card.near = in.U8();
  if (count > kCardAddressesMax || card.near > count) in.Fail();
  for (std::size_t i = 0; i < count && in.ok(); ++i) card.tcp.push_back(DecodeAddress(in));
  card.unix_socket = DecodeAddress(in);
  if (!in.AtEnd()) return Error{Code::kProtocol, "a rank's card that cannot be read"};
  return card;
}

}  // namespace ringlet::comm
