#include "comm/peers/peer_info.hpp"

#include <algorithm>

namespace ringlet::comm {
namespace {

constexpr std::uint8_t kNamed = 1, kOnGpu = 2, kOnHalf = 4, kWithoutDevices = 8, kWithNonce = 16,
                       kWithArena = 32, kFlags = 63;

void EncodeDevice(Writer& out, const PeerInfo& peer_info) {
  const bool half = peer_info.gpu && peer_info.half;
  out.U8(static_cast<std::uint8_t>(
      (peer_info.names_device ? kNamed : 0) | (peer_info.gpu ? kOnGpu : 0) | (half ? kOnHalf : 0) |
      (peer_info.knows_devices ? 0 : kWithoutDevices) | (peer_info.nonce ? kWithNonce : 0) |
      (peer_info.arena ? kWithArena : 0)));
  if (peer_info.gpu) out.U64(peer_info.gpu->value);
  if (half) out.U8(*peer_info.half);
}

/// \return  the flags
std::uint8_t DecodeDevice(Reader& in, PeerInfo& peer_info) {
  const std::uint8_t flags = in.U8();
  if (flags > kFlags || (flags & (kOnGpu | kOnHalf)) == kOnHalf) in.Fail();
  peer_info.names_device = (flags & kNamed) != 0;
  peer_info.knows_devices = (flags & kWithoutDevices) == 0;
  if ((flags & kOnGpu) != 0) peer_info.gpu = topology::BusId{in.U64()};
  if ((flags & kOnHalf) != 0) peer_info.half = in.U8();
  return flags;
}

void EncodeMemory(Writer& out, const PeerInfo& peer_info) {
  if (peer_info.nonce) out.Raw(*peer_info.nonce);
  if (!peer_info.arena) return;
  out.U32(peer_info.arena->pid).U32(peer_info.arena->descriptor);
  out.U64(peer_info.arena->device).U64(peer_info.arena->inode);
}

void DecodeMemory(Reader& in, std::uint8_t flags, PeerInfo& peer_info) {
  if ((flags & kWithNonce) != 0) {
    const View nonce = in.Raw(sizeof(Secret));
    if (nonce.size() == sizeof(Secret)) std::ranges::copy(nonce, peer_info.nonce.emplace().begin());
  }
  if ((flags & kWithArena) == 0) return;
  transport::ArenaPlace& arena = peer_info.arena.emplace();
  arena.pid = in.U32();
  arena.descriptor = in.U32();
  arena.device = in.U64();
  arena.inode = in.U64();
}

topology::CpuSet FirstRanges(const topology::CpuSet& cpus) {
  topology::CpuSet first;
  for (std::size_t i = 0; i < std::min(cpus.ranges().size(), kPeerInfoCpuRangesMax); ++i)
    first = first.JoinedWith(topology::CpuSet::Of(cpus.ranges()[i].first, cpus.ranges()[i].last));
  return first;
}

}  // namespace

Bytes Encode(const PeerInfo& peer_info) {
  Writer out;
  out.U64(peer_info.host_hash).U64(peer_info.process_hash).U64(peer_info.network_namespace);
  out.U64(peer_info.host_shape_digest)
      .U64(peer_info.settings_digest)
      .U32(peer_info.device)
      .U32(peer_info.numa);
  EncodeDevice(out, peer_info);
  Encode(out, FirstRanges(peer_info.cpus));
  const std::size_t count = std::min(peer_info.tcp.size(), kPeerInfoAddressesMax);
  out.U8(static_cast<std::uint8_t>(count));
  out.U8(static_cast<std::uint8_t>(std::min(peer_info.preferred, count)));
  for (std::size_t i = 0; i < count; ++i) ringlet::Encode(out, peer_info.tcp[i]);
  ringlet::Encode(out, peer_info.unix_socket);
  EncodeMemory(out, peer_info);
  return out.Take();
}

Result<PeerInfo> DecodePeerInfo(View bytes) {
  Reader in(bytes);
  PeerInfo peer_info;
  peer_info.host_hash = in.U64();
  peer_info.process_hash = in.U64();
  peer_info.network_namespace = in.U64();
  peer_info.host_shape_digest = in.U64();
  peer_info.settings_digest = in.U64();
  peer_info.device = in.U32();
  peer_info.numa = in.U32();
  const std::uint8_t flags = DecodeDevice(in, peer_info);
  peer_info.cpus = topology::DecodeCpuSet(in);
  if (peer_info.cpus.ranges().size() > kPeerInfoCpuRangesMax) in.Fail();
  const std::size_t count = in.U8();
  peer_info.preferred = in.U8();
  if (count > kPeerInfoAddressesMax || peer_info.preferred > count) in.Fail();
  for (std::size_t i = 0; i < count && in.ok(); ++i) peer_info.tcp.push_back(DecodeAddress(in));
  peer_info.unix_socket = DecodeAddress(in);
  DecodeMemory(in, flags, peer_info);
  if (!in.AtEnd()) return Error{Code::kProtocol, "a rank's peer info that cannot be read"};
  return peer_info;
}

}  // namespace ringlet::comm
